import { readFile } from 'node:fs/promises';
import { DemoError } from '../demo-error.ts';
import { type CompiledContract, compileSolidity } from './compile-solidity.ts';

export async function compileContracts<Name extends string>(
  names: readonly Name[],
): Promise<(name: Name) => CompiledContract> {
  const files = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(`../../../contracts/${name}.sol`, import.meta.url), 'utf8');
      return [`${name}.sol`, text] as const;
    }),
  );
  const compiled = await compileSolidity(Object.fromEntries(files));
  return (name) => {
    const found = compiled.get(name);
    if (found === undefined) throw new DemoError(`${name}.sol has no contract ${name}`);
    return found;
  };
}
