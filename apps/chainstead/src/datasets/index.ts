/** Start reading at `registry.ts`. */
export { pathOf } from './account-events/account-events.ts';
export { createDatasetRoutes } from './dataset-routes.ts';
export { manifests } from './manifests.ts';
export { readExamples } from './read-examples.ts';
export { datasets } from './registry.ts';
export { stateReaders } from './state-readers.ts';
