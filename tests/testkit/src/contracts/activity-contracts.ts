import { type CompiledContract, compileContracts } from 'chainstead/src/demo/devnet/compile-solidity.ts';

/** Contracts of this package's `contracts` folder whose calls cause all that a transaction can. */
const NAMES = ['Playground', 'DemoToken', 'GalleryCats'] as const;

/** Compiles them, or takes them from the compiler's cache. @throws TestkitError */
export function compileActivityContracts(): Promise<(name: (typeof NAMES)[number]) => CompiledContract> {
  return compileContracts(NAMES);
}
