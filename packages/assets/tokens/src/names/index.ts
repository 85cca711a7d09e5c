/** ENS and Unstoppable names. Start with `resolve-names.ts`, `name-reader.ts` (workers). */

export { type NameNodes, type NameQuestion, type NameService, servicesOn } from './name-chains.ts';
export { createNameReader } from './name-reader.ts';
export { readStoredName, type StoredName } from './resolve-names.ts';
export { createResolveRoutes, NAME_EXAMPLES, normalName } from './resolve-routes.ts';
