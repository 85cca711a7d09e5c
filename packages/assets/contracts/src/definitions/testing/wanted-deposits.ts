/** A contract to add, with its parts: each test changes some. */
import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import type { WantedContract } from '../wanted-contract.ts';

export const registry = createChainRegistry();
export const [eth, base] = [registry.get('eth'), registry.get('base')];
export const [ONE, OTHER] = ['11', '22'].map((byte) => parseAddress(`0x${byte.repeat(20)}`)) as [
  WantedContract['addresses'][0],
  WantedContract['addresses'][0],
];

export const input = (name: string, type: string, indexed = false) => ({ name, type, indexed });
export const event = (name: string, ...inputs: readonly object[]) => ({ type: 'event', name, inputs });
export const DEPOSIT = event(
  'Deposit',
  input('sender', 'address', true),
  input('owner', 'address', true),
  input('assets', 'uint256'),
);
export const SENT_TO_MANY = event('Sent', input('from', 'address', true), input('to', 'address[]'));
export const MADE = { of: null, event: 'Made(address pair, uint8 kind)', child: 'pair' };
export const DECLARE =
  "Use a declaration with the names of parameters, such as --event 'PoolCreated(address indexed token0, address pool)'";

/** @param changes parts that differ */
export const wanted = (name: string, changes: Partial<WantedContract> = {}): WantedContract => ({
  ...{
    name,
    chain: eth,
    addresses: [ONE],
    abi: [DEPOSIT],
    factory: null,
    firstBlock: null,
    events: null,
    indexed: [],
  },
  ...changes,
});
