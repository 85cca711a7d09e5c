/** Start with `schema.ts`, `dataset.ts`, `sync/aptos-sync.ts`, `routes/aptos-routes.ts`. */
export { exportCoins } from './coins-file/export-coins.ts';
export { importCoins } from './coins-file/import-coins.ts';
export { aptosDatasets } from './datasets.ts';
export { checkFullnode } from './fullnode/check-fullnode.ts';
export { countFullnodeCalls, createFullnodeMetrics } from './fullnode/fullnode-state.ts';
export { createFullnodes, type Fullnodes, nameFullnodes } from './fullnode/fullnodes.ts';
export { chainIdOf, chainKeyOf, networkOfChain } from './fullnode/ledger-info.ts';
export { createAptosRoutes } from './routes/aptos-routes.ts';
export { readAptosExamples } from './routes/read-examples.ts';
export { type AptosStatus, readAptosStatuses } from './sync/aptos-status.ts';
export { createAptosSync } from './sync/aptos-sync.ts';
export { backfillVersions, type FillProgress } from './sync/fill-versions.ts';
export type { AptosNetwork } from './transaction.ts';
