/** Historical blocks of other sources than nodes. Start with block-source.ts. */
export * from './block-source.ts';
export { BLOB_GAS, blobGasPrice } from './era/blob-price.ts';
export * from './history-sources.ts';
export { portalUrl } from './portal/portal-url.ts';
export { FilesLackBlocksError, isGap, SourceError, type SourceFault } from './source-error.ts';
