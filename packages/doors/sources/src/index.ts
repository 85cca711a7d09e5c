/** Historical blocks beside the nodes. Start with block-source.ts. */
export * from './block-source.ts';
export { openPortalSource, type PortalOptions } from './portal/open-portal-source.ts';
export { SourceError, type SourceFault } from './source-error.ts';
