import type { UpstreamPool } from '@chainstead/rpc';

/** The newest that nodes can serve. @throws UpstreamsExhaustedError, RequestAbortedError */
export async function newestBlock(pool: UpstreamPool, signal: AbortSignal): Promise<number> {
  const { value } = await pool.getHead({ signal });
  return value.number;
}
