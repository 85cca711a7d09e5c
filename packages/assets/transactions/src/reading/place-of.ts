import { parseQuantity } from '@chainstead/core';
import { type UpstreamPool, UpstreamsExhaustedError } from '@chainstead/rpc';

/** Null: in no block, by all healthy upstreams. @throws UpstreamsExhaustedError */
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
