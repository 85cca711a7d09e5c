import { type Log, ZERO_ADDRESS } from '@chainstead/core';
import { decodeErc20Transfer, decodeNftTransfers } from '@chainstead/events/token-events';
import {
  contractsIn,
  type Dataset,
  type DecodeContext,
  defineTable,
  timestampText,
} from '@chainstead/sync/datasets';
import type { Erc20Payment } from './marketplace.ts';
import { resolveParties } from './resolve-parties.ts';
import { saleDays } from './sale-days.ts';
import { type NftTradeRow, nftTrades as table } from './schema.ts';
import { tradeRows } from './trade-rows.ts';
import { type TradingChain, tradingChain } from './trading-chain.ts';
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
