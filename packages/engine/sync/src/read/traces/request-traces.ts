import { InvalidPrimitiveError } from '@chainstead/core';
import { MalformedAnswerError, RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import type { InternalTransaction } from '../../dataset/whole-block.ts';
import { ReorgedWhileReadingError } from '../../errors.ts';

/** `calls` include the transactions. `refusals`: no upstream supports traces. */
export type TracesRead =
  | { readonly calls: readonly InternalTransaction[] }
  | { readonly refusals: readonly string[] };

export interface TraceCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** @throws MalformedAnswerError, InvalidPrimitiveError, ReorgedWhileReadingError */
  parse(result: unknown): InternalTransaction[];
}

/** Per attempt: tracing executes the transactions again. */
const TRACE_TIMEOUT_MS = 45_000;

/** From the callTracer or flat, whichever is supported. @throws UpstreamsExhaustedError */
export async function requestTraces(
  pool: UpstreamPool,
  { frames, flat }: { readonly frames: TraceCall; readonly flat: TraceCall },
  signal?: AbortSignal,
): Promise<TracesRead> {
  const refusals: string[] = [];
  const supported = pool.status().map(({ capabilities }) => capabilities.traces);
  const isFlatFirst = supported.includes('parity') && !supported.includes('debug');
  for (const call of isFlatFirst ? [flat, frames] : [frames, flat])
    try {
      return { calls: await requestChecked(pool, call, signal) };
    } catch (error) {
      if (!(error instanceof RpcCallError)) throw error;
      refusals.push(error.message);
    }
  return { refusals };
}

async function requestChecked(
  pool: UpstreamPool,
  { method, params, parse }: TraceCall,
  signal: AbortSignal | undefined,
): Promise<InternalTransaction[]> {
  const refused = new Set<string>();
  for (;;) {
    const options = { exclude: refused, timeoutMs: TRACE_TIMEOUT_MS, ...(signal && { signal }) };
    const answer = await pool.request(method, params, options);
    try {
      return parse(answer.value);
    } catch (error) {
      if (error instanceof MalformedAnswerError || error instanceof InvalidPrimitiveError)
        pool.reportFault(answer.upstream, 'malformed', { method, reason: error.message });
      // A request by number may return a later block: not the node's fault.
      else if (!(error instanceof ReorgedWhileReadingError)) throw error;
      // Once all are excluded, the pool throws.
      refused.add(answer.upstream);
    }
  }
}
