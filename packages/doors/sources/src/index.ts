/** Historical blocks beside the nodes. Start with block-source.ts. */
export * from './block-source.ts';
export { type EraSourceOptions, openEraSource } from './era/open-era-source.ts';
export * from './history-sources.ts';
export { type HyperSyncOptions, openHyperSyncSource } from './hypersync/open-hypersync-source.ts';
export { openPortalSource, type PortalOptions } from './portal/open-portal-source.ts';
export { portalUrl } from './portal/portal-url.ts';
export { SourceError, type SourceFault } from './source-error.ts';
