import { ChainsteadError, toQuantity } from '@chainstead/core';
import { RpcCallError } from '@chainstead/rpc';
import type { OffersTraces } from '../stream-services.ts';
import { chainAmong, type PastChain } from './past-chain.ts';

/**
 * Asks the upstreams for traces of the newest block, in both forms, until one was had. False only when they refuse: while none
 * of them answers, nothing speaks against it. @throws ChainNotServedError
 */
export function createOffersTraces(chains: readonly PastChain[]): OffersTraces {
  const known = new Set<PastChain>();
  return async (chain) => {
    const past = chainAmong(chains, chain);
    if (known.has(past)) return true;
    const offered = await asked(past);
    if (offered === true) known.add(past);
    return offered !== false;
  };
}

/** Null: nobody knows. */
async function asked({ pool }: PastChain): Promise<boolean | null> {
  try {
    const { number, hash } = (await pool.getHead()).value;
    const calls = [
      ['debug_traceBlockByHash', [hash, { tracer: 'callTracer' }]],
      ['trace_block', [toQuantity(number)]],
    ] as const;
    for (const [method, params] of calls) if (await isAnswered(pool, method, params)) return true;
    return false;
  } catch (error) {
    // What keeps upstreams from answering now stands in their status; blocks will tell.
    if (error instanceof ChainsteadError && error.retryable) return null;
    throw error;
  }
}

async function isAnswered(pool: PastChain['pool'], method: string, params: readonly unknown[]): Promise<boolean> {
  try {
    await pool.request(method, params);
    return true;
  } catch (error) {
    if (error instanceof RpcCallError) return false;
    throw error;
  }
}
