import type { Chain } from '@chainstead/chains';
import type { Address, Hex } from '@chainstead/core';
import { RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem';

/** One question to a contract. */
export interface ContractCall {
  readonly to: Address;
  readonly data: Hex;
}

/**
 * Calls of contracts at a chain's newest block. Answers are returned data, or null where the call reverted or returned nothing.
 * Both throw UpstreamsExhaustedError (retryable) when no upstream answers, RequestAbortedError when the signal ends it.
 */
export interface ContractCalls {
  call(to: Address, data: Hex, signal: AbortSignal): Promise<Hex | null>;
  /**
   * Through Multicall3; null where the chain has none or it does not work. A null among the answers proves nothing: an `INVALID`
   * opcode of one old contract burns 63/64 of the gas of all that follow, so such a call is to be repeated alone.
   */
  callTogether(calls: readonly ContractCall[], signal: AbortSignal): Promise<(Hex | null)[] | null>;
}

const MULTICALL3_ABI = parseAbi([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])',
]);

export function createContractCalls(options: { readonly pool: UpstreamPool; readonly chain: Chain }): ContractCalls {
  const { pool, chain } = options;

  async function call(to: Address, data: Hex, signal: AbortSignal): Promise<Hex | null> {
    try {
      const answer = await pool.request('eth_call', [{ to, data }, 'latest'], { signal });
      return typeof answer.value === 'string' && answer.value.length > 2 ? (answer.value as Hex) : null;
    } catch (error) {
      // The node executed the call and it reverted: an answer. Anything that may go away by itself is not.
      if (error instanceof RpcCallError) return null;
      throw error;
    }
  }

  return {
    call,
    async callTogether(calls, signal) {
      if (chain.multicall3 === null) return null;
      const requests = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
      const data = encodeFunctionData({ abi: MULTICALL3_ABI, functionName: 'aggregate3', args: [requests] });
      const answer = await call(chain.multicall3.address, data, signal);
      const results = answer === null ? null : decodeAggregate(answer);
      return results?.length === calls.length ? results : null;
    },
  };
}

function decodeAggregate(answer: Hex): (Hex | null)[] | null {
  try {
    const results = decodeFunctionResult({ abi: MULTICALL3_ABI, functionName: 'aggregate3', data: answer });
    return results.map(({ success, returnData }) => (success && returnData.length > 2 ? returnData : null));
  } catch {
    // Not Multicall3 at that address: the single calls decide.
    return null;
  }
}
