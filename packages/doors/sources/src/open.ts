/** What loads clients and decoders, apart from `index.ts`: few processes open sources. */
export { createEraPool } from './era/era-pool.ts';
export { openEraSource } from './era/open-era-source.ts';
export { openHyperSyncSource } from './hypersync/open-hypersync-source.ts';
export { openPortalSource } from './portal/open-portal-source.ts';
