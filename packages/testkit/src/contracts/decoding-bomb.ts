import { compileContracts } from './compile-contracts.ts';
import type { CompiledContract } from './compile-solidity.ts';

/** A contract whose `bomb()` returns little data that decodes to very much. */
export async function compileDecodingBomb(): Promise<CompiledContract> {
  const contract = await compileContracts(['DecodingBomb']);
  return contract('DecodingBomb');
}
