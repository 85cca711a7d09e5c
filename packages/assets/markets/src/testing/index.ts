/** For tests of other packages: swaps and pools of recorded blocks, as the sync engine and the worker would write them. */

export { sampleNumbers, standingSince } from '../pool-readings/look-back.ts';
export { replaceTrades } from '../proofs/pool-rows.ts';
export { noBackfill } from '../swap-lists/testing/no-backfill.ts';
export { cover, seedPools, seedSwaps, seedToken, swapRow } from '../swap-lists/testing/seeded-swaps.ts';
export { changeRows } from '../trader-sums/testing/change-rows.ts';
export { traderSumsOfSwaps } from '../trader-sums/trader-sums-projection.ts';
export { exampleLog } from './example-log.ts';
export { isProvenByAddress, proveStoredPools } from './proven-pools.ts';
export { recordedBlock } from './recorded-block.ts';
export { storeRows } from './stored-rows.ts';
