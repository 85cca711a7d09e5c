import { addressKey } from '@chainstead/db/address-key';
import type { Fill, Marketplace, TradedItem } from './marketplace.ts';
import type { NftTradeRow } from './schema.ts';

/**
 * Up to so many ids of a collection, each row of a trade names all of them. In a larger bundle the leading row names all and
 * every other one its own with its neighbours: else rows would grow with the square of what one transaction holds. The one
 * before is among them, always another token, so that no row of a bundle looks like the sale of a single token.
 */
export const WHOLE_BUNDLE_MAX = 64;

/** What `collections` can hold. */
const COLLECTIONS_MAX = 32_767;

export interface TradeRowsOptions {
  readonly marketplace: Marketplace;
  readonly chainId: number;
  readonly blockTimestamp: string;
  /** Rows made so far of this transaction, by log and key of the collection: gives the next one's `item`. */
  readonly counts: Map<string, number>;
}

/** The rows of one fill: for each collection, one for each different token. */
export function tradeRows(fill: Fill, options: TradeRowsOptions): NftTradeRow[] {
  const collections = Map.groupBy(fill.items, (item) => item.token);
  const collectionCount = Math.min(collections.size, COLLECTIONS_MAX);
  return [...collections].flatMap(([token, items]) => {
    const tokenIds = items.map((item) => item.tokenId);
    const amounts = items.map((item) => item.amount);
    const collectionKey = addressKey(token);
    const isOfOneId = items.length === 1;
    return firstOfEach(items).map((place, index): NftTradeRow => {
      const named = index === 0 || items.length <= WHOLE_BUNDLE_MAX ? all : windowFrom(place - 1);
      return {
        collectionKey,
        chainId: options.chainId,
        blockNumber: fill.log.blockNumber,
        transactionIndex: fill.log.transactionIndex,
        logIndex: fill.log.logIndex,
        item: nextItem(options.counts, fill.log.logIndex, collectionKey),
        blockTimestamp: options.blockTimestamp,
        side: fill.side,
        collections: collectionCount,
        leads: index === 0,
        tokenAddress: token,
        tokenId: tokenIds[place] ?? '0',
        tokenIds: isOfOneId ? null : named(tokenIds),
        amounts: isOfOneId && amounts[0] === '1' ? null : named(amounts),
        marketplace: options.marketplace.name,
        protocol: options.marketplace.protocol,
        marketplaceAddress: fill.log.address,
        seller: fill.seller,
        buyer: fill.buyer,
        paymentToken: fill.paymentToken,
        price: fill.price === null ? null : fill.price.toString(),
        transactionHash: fill.log.transactionHash,
      };
    });
  });
}

const all = (texts: readonly string[]): readonly string[] => texts;

/** Those from this place on, around the end, as many as a row names of a large bundle. */
function windowFrom(place: number): (texts: readonly string[]) => readonly string[] {
  return (texts) => [...texts.slice(place), ...texts.slice(0, place)].slice(0, WHOLE_BUNDLE_MAX);
}

/** Places where an id stands for the first time. */
function firstOfEach(items: readonly TradedItem[]): number[] {
  const seen = new Set<string>();
  return items.flatMap(({ tokenId }, place) => {
    if (seen.has(tokenId)) return [];
    seen.add(tokenId);
    return [place];
  });
}

/** By key: of two contracts of one bundle that share it, rows would else have the same primary key. */
function nextItem(counts: Map<string, number>, logIndex: number, collectionKey: string): number {
  const key = `${logIndex}:${collectionKey}`;
  const item = counts.get(key) ?? 0;
  counts.set(key, item + 1);
  return item;
}
