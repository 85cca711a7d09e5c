/** Historical blocks of other sources than nodes. Start with block-source.ts. */
export * from './block-source.ts';
export { BLOB_GAS, blobGasPrice } from './era/blob-price.ts';
export { createEraPool } from './era/era-pool.ts';
export { openEraSource } from './era/open-era-source.ts';
export * from './history-sources.ts';
export { openHyperSyncSource } from './hypersync/open-hypersync-source.ts';
export { openPortalSource } from './portal/open-portal-source.ts';
export { portalUrl } from './portal/portal-url.ts';
export { FilesLackBlocksError, isGap, SourceError, type SourceFault } from './source-error.ts';
