import { type CompiledContract, compileContracts } from 'chainstead/src/demo/devnet/compile-solidity.ts';

/** Contracts of this package's `contracts` folder that assets are made of, well-behaved and not; `Multicall3` reads them. */
const NAMES = [
  'DemoToken',
  'FeeToken',
  'OldToken',
  'RebasingToken',
  'WrappedEther',
  'LyingToken',
  'MuteToken',
  'GalleryCats',
  'LazyNft',
  'GalleryFounders',
  'GalleryPrints',
  'Multicall3',
] as const;

/** Compiles them, or takes them from the compiler's cache. @throws TestkitError */
export function compileAssetContracts(): Promise<(name: (typeof NAMES)[number]) => CompiledContract> {
  return compileContracts(NAMES);
}
