import { ChainsteadError, toQuantity } from '@chainstead/core';
import { RpcCallError } from '@chainstead/rpc';
import type { OffersTraces } from '../stream-services.ts';
import { chainAmong, type PastChain } from './past-chain.ts';

/** False only if the upstreams refuse traces of the head. @throws ChainNotServedError */
export function createOffersTraces(chains: readonly PastChain[]): OffersTraces {
  const offering = new Set<PastChain>();
  return async (chain) => {
    const past = chainAmong(chains, chain);
    if (offering.has(past)) return true;
    const offered = await requested(past);
    if (offered === true) offering.add(past);
    return offered !== false;
  };
}

async function requested({ pool }: PastChain): Promise<boolean | null> {
  try {
    const { number, hash } = (await pool.getHead()).value;
    const calls = [
      ['debug_traceBlockByHash', [hash, { tracer: 'callTracer' }]],
      ['trace_block', [toQuantity(number)]],
    ] as const;
    for (const [method, params] of calls) if (await isAnswered(pool, method, params)) return true;
    return false;
  } catch (error) {
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
