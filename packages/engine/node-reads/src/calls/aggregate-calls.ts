import type { Address, Hex } from '@chainstead/core';
import { decodeAbi } from '@chainstead/events/abi';
import { encodeFunctionData, parseAbi } from 'viem/utils';

export interface ContractCall {
  readonly to: Address;
  readonly data: Hex;
}

const MULTICALL3_ABI = parseAbi([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])',
]);

export function encodeAggregate(calls: readonly ContractCall[]): Hex {
  const requests = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
  return encodeFunctionData({ abi: MULTICALL3_ABI, functionName: 'aggregate3', args: [requests] });
}

/** Null: not Multicall3's. Null data proves nothing: one `INVALID` burns 63/64 of the gas. */
export function decodeAggregate(answer: Hex, calls: number): (Hex | null)[] | null {
  try {
    const [results] = decodeAbi(MULTICALL3_ABI[0].outputs, answer);
    if (results.length !== calls) return null;
    return results.map(({ success, returnData }) => (success && returnData.length > 2 ? returnData : null));
  } catch {
    // No Multicall3, or a contract that answers far too much: the single calls decide.
    return null;
  }
}

export function beginningOf(answer: Hex, bytesMax: number): Hex {
  if (answer.length <= 2 + 2 * bytesMax) return answer;
  // A copy: a slice would keep all of it in memory.
  return Buffer.from(answer.slice(0, 2 + 2 * bytesMax), 'latin1').toString('latin1') as Hex;
}
