import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { addressKey } from '@chainstead/db/column-types';
import {
  decodeErc20Transfer,
  decodeNftTransfers,
  nftTransferTopics,
  TRANSFER_TOPIC,
} from '@chainstead/events/token-events';
import {
  contractsIn,
  type Dataset,
  type DecodeContext,
  defineTable,
  timestampText,
} from '@chainstead/sync/datasets';
import type { Erc20Payment, Fill, Marketplace, TradedItem } from './marketplace.ts';
import { marketplaces } from './marketplaces.ts';
import { resolveParties } from './resolve-parties.ts';
import { saleDays } from './sale-days.ts';
import { type NftTradeRow, nftTrades as table } from './schema.ts';
import { transfersByToken } from './transfers-by-token.ts';

/** A partition's five indexes take about 500 MB. */
const ROWS_PER_PARTITION = 1_500_000;

/** docs/api/trades-and-prices.md. Decoded from the transaction's logs alone. */
export const nftTrades: Dataset<NftTradeRow> = {
  name: 'nft-trades',
  topics: (chain) => tradingChain(chain).topics,
  table: defineTable(table, {
    rowsPerPartition: ROWS_PER_PARTITION,
  }),
  decode,
  contracts: contractsIn('erc20', ({ paymentToken }) => paymentToken),
  projections: [saleDays],
};

function decode(logs: readonly Log[], context: DecodeContext): NftTradeRow[] {
  const trading = tradingChain(context.chain);
  const rows: NftTradeRow[] = [];
  for (let start = 0, end = 0; start < logs.length; start = end) {
    const first = logs[start];
    let fills = false;
    for (end = start; end < logs.length; end++) {
      const log = logs[end];
      if (log?.transactionIndex !== first?.transactionIndex || log?.blockNumber !== first?.blockNumber) break;
      if (log !== undefined && trading.byAddress.has(log.address) && trading.isFill(log)) fills = true;
    }
    if (fills) decodeTransaction(logs.slice(start, end), trading, context, rows);
  }
  return rows;
}

function decodeTransaction(
  logs: readonly Log[],
  trading: TradingChain,
  { chain, timestampOf }: DecodeContext,
  rows: NftTradeRow[],
): void {
  const { transfers } = decodeNftTransfers(logs, chain);
  const payments = logs.flatMap((log): Erc20Payment | readonly Erc20Payment[] => {
    const transfer = decodeErc20Transfer(log, chain);
    return transfer === null ? [] : { log, token: log.address, ...transfer, value: BigInt(transfer.value) };
  });
  const transaction = { chain, logs, transfers, payments };
  const filled = marketplacesIn(logs, trading).flatMap(({ marketplace, own }) =>
    marketplace.fills(own, transaction).map((fill) => ({ marketplace, fill })),
  );
  const [first] = logs;
  if (first === undefined || filled.length === 0) return;
  const resolved = resolveParties(
    filled.map(({ fill }) => fill),
    transfersByToken(transfers),
  );
  const blockTimestamp = timestampText(timestampOf(first.blockNumber));
  const counts = new Map<string, number>();
  for (const [index, { marketplace }] of filled.entries()) {
    const fill = resolved[index];
    if (fill === undefined || fill.seller === ZERO_ADDRESS || fill.buyer === ZERO_ADDRESS) continue;
    for (const row of tradeRows(fill, { marketplace, chainId: chain.id, blockTimestamp, counts })) rows.push(row);
  }
}

function marketplacesIn(logs: readonly Log[], trading: TradingChain) {
  const involved = new Set(logs.flatMap((log) => trading.byAddress.get(log.address) ?? []));
  return [...involved].flatMap((marketplace) => {
    const own = logs.filter(
      ({ address, topics: [topic0] }) =>
        topic0 !== undefined &&
        marketplace.topics.includes(topic0) &&
        trading.byAddress.get(address)?.includes(marketplace) === true,
    );
    return own.length === 0 ? [] : [{ marketplace, own }];
  });
}

/**
 * Other rows of larger bundles have their id with its neighbors, or rows would grow quadratically.
 * With the previous id, no row looks like the sale of a single token.
 */
export const WHOLE_BUNDLE_MAX = 64;

const COLLECTIONS_MAX = 32_767;

interface TradeRowsOptions {
  readonly marketplace: Marketplace;
  readonly chainId: number;
  readonly blockTimestamp: string;
  /** By log and collection key: the next row's `item`. */
  readonly counts: Map<string, number>;
}

function tradeRows(fill: Fill, options: TradeRowsOptions): NftTradeRow[] {
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

interface TradingChain {
  /** Fill events, then NFT and ERC-20 transfers; empty if no marketplace is deployed. */
  readonly topics: readonly Hash[];
  readonly byAddress: ReadonlyMap<Address, readonly Marketplace[]>;
  isFill(log: Log): boolean;
}

const byChain = new WeakMap<Chain, TradingChain>();

function tradingChain(chain: Chain): TradingChain {
  const cached = byChain.get(chain);
  if (cached !== undefined) return cached;
  const byAddress = new Map<Address, Marketplace[]>();
  const fillTopics = new Set<Hash>();
  for (const marketplace of chain.nftTrades ? marketplaces : []) {
    const addresses = marketplace.addresses(chain);
    for (const address of addresses) byAddress.set(address, [...(byAddress.get(address) ?? []), marketplace]);
    if (addresses.length > 0) for (const topic of marketplace.topics) fillTopics.add(topic);
  }
  const topics =
    byAddress.size === 0 ? [] : [...new Set([...fillTopics, ...nftTransferTopics(chain), TRANSFER_TOPIC])];
  const isFill = ({ address, topics: [topic0] }: Log): boolean =>
    topic0 !== undefined &&
    (byAddress.get(address)?.some((marketplace) => marketplace.topics.includes(topic0)) ?? false);
  const trading = { topics, byAddress, isFill };
  byChain.set(chain, trading);
  return trading;
}
