import type { Chain } from '@chainstead/chains';
import { type Address, createAnswerBudget, type Hex, toQuantity } from '@chainstead/core';
import { isAnswerOfCall, type UpstreamPool } from '@chainstead/rpc';
import { beginningOf, type ContractCall, decodeAggregate, encodeAggregate } from './call-together.ts';

/** Null: reverted, or returned nothing. @throws UpstreamsExhaustedError, RequestAbortedError */
export interface ContractCalls {
  call(to: Address, data: Hex, signal: AbortSignal, at?: CalledState): Promise<Hex | null>;
  /** Through Multicall3; null: does not work. Null data proves nothing: repeat that call alone. */
  callTogether(
    calls: readonly ContractCall[],
    signal: AbortSignal,
    at?: Pick<CalledState, 'minBlock'>,
  ): Promise<(Hex | null)[] | null>;
}

export interface CalledState {
  readonly block?: number;
  /** Only nodes that have reached this block are called. @default `block` */
  readonly minBlock?: number;
}

/** A contract may return megabytes to each of many calls, free of charge. */
const BUDGET = { bytesMax: 48 * 1_048_576, requestsMax: 24 };

export function createContractCalls(options: {
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly answerBytesMax: number;
}): ContractCalls {
  const { pool, chain, answerBytesMax } = options;
  const budget = createAnswerBudget(BUDGET);

  async function ask(
    to: Address,
    data: Hex,
    signal: AbortSignal,
    { block, minBlock = block }: CalledState = {},
  ): Promise<Hex | null> {
    const tag = block === undefined ? 'latest' : toQuantity(block);
    const options = minBlock === undefined ? { signal } : { signal, minBlock };
    try {
      const { value } = await pool.request('eth_call', [{ to, data }, tag], options);
      if (typeof value !== 'string' || value.length <= 2) return null;
      budget.observe(value.length);
      return value as Hex;
    } catch (error) {
      // The call failed in execution: a result. A failure that may be temporary is not.
      if (isAnswerOfCall(error)) return null;
      throw error;
    }
  }

  return {
    call: (to, data, signal, at) =>
      budget.run(async () => {
        const answer = await ask(to, data, signal, at);
        return answer === null ? null : beginningOf(answer, answerBytesMax);
      }),
    async callTogether(calls, signal, at) {
      if (chain.multicall3 === null) return null;
      const { address } = chain.multicall3;
      const answer = await budget.run(() => ask(address, encodeAggregate(calls), signal, at));
      return answer === null ? null : decodeAggregate(answer, calls.length);
    },
  };
}
