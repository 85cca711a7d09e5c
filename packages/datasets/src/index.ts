/** Start reading at `registry.ts`. */
export {
  BLOCK_LISTS,
  type BlockList,
  type BlockRows,
  type RowPlace,
  readBlockRows,
} from './block-rows/read-block-rows.ts';
export { createDatasetRoutes } from './dataset-routes.ts';
export { dueEntries } from './due-entries.ts';
export { importList, type ListKind } from './lists/import-list.ts';
export { readExamples } from './read-examples.ts';
export { datasets, manifests } from './registry.ts';
export { stateReaders } from './state-readers.ts';
