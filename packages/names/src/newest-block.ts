import type { UpstreamPool } from '@chainstead/rpc';

/** The block whose state is read: the newest that nodes can serve. @throws UpstreamsExhaustedError, RequestAbortedError */
export async function newestBlock(pool: UpstreamPool, signal: AbortSignal): Promise<number> {
  const { value } = await pool.getHead({ signal });
  return value.number;
}
