export { erc4626Vaults } from './erc4626-vaults/manifest.ts';
export type { DatasetManifest } from './manifest/dataset-manifest.ts';
