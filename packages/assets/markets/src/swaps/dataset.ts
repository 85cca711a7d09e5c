import { contractsIn, type Dataset, defineTable } from '@chainstead/sync/datasets';
import { mayHavePoolEvents } from '../events/decode-pool-event.ts';
import { candlesOfSwaps } from '../pool-candles/candles-projection.ts';
import { poolsOfSwaps } from '../proofs/discovered-pools.ts';
import { type SwapRow, swaps as table } from '../tables/schema.ts';
import { traderSumsOfSwaps } from '../trader-sums/trader-sums-projection.ts';
import { tradesOfProvenPools } from '../trades/trades-projection.ts';
import { tickLiquidityOfSwaps } from '../vault-liquidity/tick-liquidity-projection.ts';
import { swapHistories } from './swap-histories.ts';
import { swapRows } from './swap-rows.ts';

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
