import { addressKey } from '@chainstead/db/column-types';
import type { Fill, Marketplace, TradedItem } from './marketplace.ts';
import type { NftTradeRow } from './schema.ts';

/**
 * Other rows of larger bundles have their id with its neighbors, or rows would grow quadratically.
 * With the previous id, no row looks like the sale of a single token.
 */
export const WHOLE_BUNDLE_MAX = 64;

const COLLECTIONS_MAX = 32_767;

export interface TradeRowsOptions {
  readonly marketplace: Marketplace;
  readonly chainId: number;
  readonly blockTimestamp: string;
  /** By log and collection key: the next row's `item`. */
  readonly counts: Map<string, number>;
}

export function tradeRows(fill: Fill, options: TradeRowsOptions): NftTradeRow[] {
  const collections = Map.groupBy(fill.items, (item) => item.token);
  const collectionCount = Math.min(collections.size, COLLECTIONS_MAX);
  return [...collections].flatMap(([token, items]) => {
    const tokenIds = items.map((item) => item.tokenId);
    const amounts = items.map((item) => item.amount);
    const collectionKey = addressKey(token);
    const isOfOneId = items.length === 1;
    return firstOfEach(items).map((place, index): NftTradeRow => {
      const isWhole = index === 0 || items.length <= WHOLE_BUNDLE_MAX;
      const shown = (texts: readonly string[]): readonly string[] =>
        isWhole ? texts : [...texts.slice(place - 1), ...texts.slice(0, place - 1)].slice(0, WHOLE_BUNDLE_MAX);
      const key = `${fill.log.logIndex}:${collectionKey}`;
      const item = options.counts.get(key) ?? 0;
      options.counts.set(key, item + 1);
      return {
        collectionKey,
        chainId: options.chainId,
        blockNumber: fill.log.blockNumber,
        transactionIndex: fill.log.transactionIndex,
        logIndex: fill.log.logIndex,
        item,
        blockTimestamp: options.blockTimestamp,
        side: fill.side,
        collections: collectionCount,
        leads: index === 0,
        tokenAddress: token,
        tokenId: tokenIds[place] ?? '0',
        tokenIds: isOfOneId ? null : shown(tokenIds),
        amounts: isOfOneId && amounts[0] === '1' ? null : shown(amounts),
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

function firstOfEach(items: readonly TradedItem[]): number[] {
  const seen = new Set<string>();
  return items.flatMap(({ tokenId }, place) => {
    if (seen.has(tokenId)) return [];
    seen.add(tokenId);
    return [place];
  });
}
