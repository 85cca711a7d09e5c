/** ENS and Unstoppable names. Start with `resolve-names.ts`, `name-reader.ts` (workers). */
export { type NameNodes, servicesOn } from './name-chains.ts';
export { NAME_EXAMPLES } from './name-examples.ts';
export type { NameQuestion, NameService } from './name-question.ts';
export { createNameReader } from './name-reader.ts';
export { normalName } from './normal-name.ts';
export { createResolveRoutes } from './resolve-routes.ts';
export { readStoredName, type StoredName } from './stored-names.ts';
