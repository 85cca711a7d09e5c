import { type CompiledContract, compileContracts } from 'chainstead/src/demo/devnet/compile-solidity.ts';

/** A contract whose `bomb()` returns little data that decodes to very much. */
export async function compileDecodingBomb(): Promise<CompiledContract> {
  const contract = await compileContracts(['DecodingBomb']);
  return contract('DecodingBomb');
}
