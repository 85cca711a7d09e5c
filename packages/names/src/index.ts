/**
 * Names of accounts: ENS and Unstoppable, forward and back. Start reading at `resolve-names.ts` (the side of requests) and `name-reader.ts` (the side of
 * workers).
 */
export { NAME_CONTRACTS, type NameNodes } from './name-chains.ts';
export { NAME_EXAMPLES } from './name-examples.ts';
export { createNameReader } from './name-reader.ts';
export { createResolveRoutes } from './resolve-routes.ts';
