/** A devnet contract that emits given logs. For tests. */
import { type Address, parseAddress } from '@chainstead/core';
import type { Devnet } from '@chainstead/testkit';
import { concat, type Hex, numberToHex, pad } from 'viem';

/** LOG3 of the first three words of calldata, and the rest as data. */
const CODE = '0x606036036060600037604035602035600035606036036000a300';
const AT = parseAddress(`0x${'e1'.repeat(20)}`);

/** topic0 of events with an owner, then the spender. */
export const APPROVALS = {
  ofAll: '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
  ofTokens: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
} as const;

/** @returns a function that emits an event of three topics in a transaction */
export async function placeEmitter(
  { client }: Devnet,
  at: Address = AT,
): Promise<
  (from: Address, topics: readonly [topic0: Hex, owner: Address, other: Address], value: number) => Promise<Hex>
> {
  await client.request({ method: 'anvil_setCode', params: [at, CODE] } as never);
  return (from, topics, value) => {
    const data = concat([...topics.map((topic) => pad(topic, { size: 32 })), numberToHex(value, { size: 32 })]);
    return client.sendTransaction({ account: from, to: at, data, gas: 100_000n, chain: null });
  };
}
