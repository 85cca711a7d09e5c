import type { Chain } from '@chainstead/chains';
import { type BlockRange, mergeRanges } from '@chainstead/core';
import { type ReadDatabase, sql } from '@chainstead/db';
import { TRANSFER_TOPIC, topicOf } from '@chainstead/events/token-events';
import { contractsIn, type Dataset, defineTable, type TransactionHistories } from '@chainstead/sync/datasets';
import { decodePoolEvent, mayHavePoolEvents } from '../events/decode-pool-event.ts';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { candlesOfSwaps } from '../pool-candles/candles-projection.ts';
import { poolsOfSwaps } from '../proofs/pool-worker.ts';
import { SWAPS_DATASET } from '../swap-lists/swaps-page.ts';
import { type SwapRow, swaps as table } from '../tables/schema.ts';
import { traderSumsOfSwaps } from '../trader-sums/trader-sums-projection.ts';
import { tradesOfProvenPools } from '../trades/trades-projection.ts';
import { tickLiquidityOfSwaps } from '../vault-liquidity/tick-liquidity-projection.ts';
import { swapRows } from './swap-rows.ts';

/** Beneficiaries gave a token in a `Transfer`, so the filters find all their swaps. */
export const swapHistories: TransactionHistories<SwapRow> = {
  filters: (_chain, account) => [
    { topics: [TRANSFER_TOPIC], indexed: [[topicOf(account)]] },
    { topics: [TRANSFER_TOPIC], indexed: [null, [topicOf(account)]] },
  ],
  mayHaveRows(logs, chain) {
    const { vaults } = exchangesOf(chain);
    return logs.some((log) => decodePoolEvent(log, vaults)?.kind === 'swap');
  },
  isOf: ({ kind, wallet, beneficiary }, account) => kind === 0 && (wallet === account || beneficiary === account),
};

/** For proven and other pools. Reads whole blocks: logs lack the transaction's sender. */
export const swaps: Dataset<SwapRow> = {
  name: 'swaps',
  topics: () => [],
  table: defineTable(table),
  decode: () => [],
  wholeBlocks: {
    reads: ({ swaps }) => (swaps === 'all' ? ['transactions'] : []),
    storesSender: mayHavePoolEvents,
    decode: ({ transactions }, { chain }) => transactions.flatMap((transaction) => swapRows(transaction, chain)),
  },
  contracts: contractsIn('erc20', ({ token0, token1 }) => [token0, token1]),
  transactionHistories: swapHistories,
  projections: [poolsOfSwaps, tradesOfProvenPools, candlesOfSwaps, traderSumsOfSwaps, tickLiquidityOfSwaps],
};

/** Ascending. Other blocks may have swaps of requested wallets, which figures leave out. */
export async function readCoveredBlocks(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
): Promise<CoveredBlocks> {
  const rows = await database.select<BlockRange>(
    sql`SELECT first_block AS from, last_block AS to FROM sync_ranges WHERE chain_id = ${id} AND dataset = ${SWAPS_DATASET} ORDER BY first_block`,
  );
  return coveredBlocks(rows);
}

export function coveredBlocks(rows: readonly BlockRange[]): CoveredBlocks {
  const ranges = mergeRanges(rows);
  return { ranges, has: (block) => isIn(ranges, block) };
}

export interface CoveredBlocks {
  readonly ranges: readonly BlockRange[];
  has(block: number): boolean;
}

function isIn(ranges: readonly BlockRange[], block: number): boolean {
  let [low, high] = [0, ranges.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined || block < range.from) high = middle - 1;
    else if (block > range.to) low = middle + 1;
    else return true;
  }
  return false;
}
