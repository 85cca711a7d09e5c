/** Exchanges: start with `events/decode-pool-event.ts` and `exchanges/families.ts`. */

export { addOutdatedCandles } from './candle-storage/outdated-candles.ts';
export { createCandleSchedules } from './candle-storage/store-candles.ts';
export { createMarketRoutes } from './market-routes.ts';
export {
  type ListedPool,
  readListedPool,
  readNewestStateBlocks,
  readPoolsListedOf,
} from './pool-lists/listed-pools.ts';
export { poolLookupsReader } from './pool-readings/lookup-reader.ts';
export { createTrustedHookSchedules, DUE_POOLS, POOL_WORK } from './proofs/pool-rows.ts';
export { addPoolProofs, countDuePools } from './proofs/pool-worker.ts';
