import { parseQuantity } from '@chainstead/core';
import { type UpstreamPool, UpstreamsExhaustedError } from '@chainstead/rpc';

/**
 * Returns the number of the block of a transaction or block hash, from a node; null if it does not exist, or is in no
 * block yet. Nonexistence requires all healthy upstreams to agree; unhealthy ones are not waited for.
 * @throws UpstreamsExhaustedError if no healthy upstream could be called
 */
export async function placeOf(
  pool: UpstreamPool,
  method: 'eth_getTransactionByHash' | 'eth_getBlockByHash',
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<number | null> {
  try {
    return numberIn((await pool.request(method, params, { signal })).value);
  } catch (error) {
    if (!(error instanceof UpstreamsExhaustedError)) throw error;
    const sound = pool.status().filter(({ state }) => state === 'healthy');
    if (sound.length === 0) throw error;
    for (const { name } of sound) {
      const { value } = await pool.request(method, params, { signal, only: name });
      if (value !== null) return numberIn(value);
    }
    return null;
  }
}

/** @throws InvalidPrimitiveError */
function numberIn(found: unknown): number | null {
  const { blockNumber, number = blockNumber } = Object(found) as Readonly<Record<string, unknown>>;
  return number === undefined || number === null ? null : parseQuantity(number);
}
