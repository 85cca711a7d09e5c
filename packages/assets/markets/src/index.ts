/** Exchanges: start with `events/decode-pool-event.ts` and `exchanges/families.ts`. */
export { createCandleSchedules } from './candle-storage/candles-worker.ts';
export { addOutdatedCandles } from './candle-storage/outdated-candles.ts';
export { createMarketRoutes } from './market-routes.ts';
export {
  type ListedPool,
  readListedPool,
  readNewestStateBlocks,
  readPoolsListedOf,
} from './pool-lists/listed-pools.ts';
export { poolLookupsReader } from './pool-readings/lookup-reader.ts';
export { countDuePools } from './proofs/count-due-pools.ts';
export { DUE_POOLS, POOL_WORK } from './proofs/pool-rows.ts';
export { addPoolProofs } from './proofs/pool-worker.ts';
export { createTrustedHookSchedules } from './proofs/trusted-hooks.ts';
