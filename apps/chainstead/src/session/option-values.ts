import type { Chain, ChainRegistry } from '@chainstead/chains';
import { type Address, isAddress, parseAddress } from '@chainstead/core';
import { UsageError } from '../errors/usage-error.ts';

/** @param option for the message; none for an argument @throws UsageError */
export function readAddress(text: string, option?: string): Address {
  if (isAddress(text)) return parseAddress(text);
  const given = option === undefined ? text : `${option} ${text}`;
  throw new UsageError(`${given} is not an address`, 'Use 0x and 40 hexadecimal digits');
}

/** @throws UsageError */
export function readBlockNumber(text: string | undefined, option: string): number | null {
  if (text === undefined) return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`${option} ${text} is not a block number`, 'Use decimal digits');
}

/** @throws UsageError */
export function readChain(
  { chainRegistry }: { readonly chainRegistry: Pick<ChainRegistry, 'find'> },
  name: string,
): Chain {
  const chain = chainRegistry.find(name);
  if (chain === null) throw new UsageError(`--chain ${name} is not a known chain`, 'Use a chain name or ID');
  return chain;
}
