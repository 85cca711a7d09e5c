/** Datasets that are a folder of this package: one line each. `npm run new:dataset` adds both. */

export { erc4626Vaults } from './erc4626-vaults/manifest.ts';
export type { DatasetManifest } from './manifest/dataset-manifest.ts';
