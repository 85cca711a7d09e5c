/** Start reading at `registry.ts`. */
export { createDatasetRoutes } from './dataset-routes.ts';
export { readExamples } from './read-examples.ts';
export { datasets } from './registry.ts';
export { stateReaders } from './state-readers.ts';
