import { InvalidPrimitiveError } from '@chainstead/core';
import { MalformedAnswerError, RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import { ChainMovedError } from '../errors.ts';
import type { InternalTransaction } from '../whole-block.ts';

/** Calls, the transactions themselves included, or what the upstreams said where none of them has traces. */
export type TracesRead = { readonly calls: readonly InternalTransaction[] } | { readonly refusals: readonly string[] };

/** What a node is asked, and how its answer is read. */
export interface TraceCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** @throws MalformedAnswerError, InvalidPrimitiveError, ChainMovedError for what is not the trace that was asked for */
  parse(result: unknown): InternalTransaction[];
}

/** One attempt: tracing executes what is traced again. Milliseconds. */
const TRACE_TIMEOUT_MS = 45_000;

/**
 * Asks for trees of calls (the callTracer) or for flat traces, whichever the upstreams have.
 * @throws UpstreamsExhaustedError when none can answer now
 */
export async function askForTraces(
  pool: UpstreamPool,
  { frames, flat }: { readonly frames: TraceCall; readonly flat: TraceCall },
  signal?: AbortSignal,
): Promise<TracesRead> {
  const refusals: string[] = [];
  for (const call of isParityOnly(pool) ? [flat, frames] : [frames, flat])
    try {
      return { calls: await askChecked(pool, call, signal) };
    } catch (error) {
      if (!(error instanceof RpcCallError)) throw error;
      refusals.push(error.message);
    }
  return { refusals };
}

function isParityOnly(pool: UpstreamPool): boolean {
  const known = pool.status().map(({ capabilities }) => capabilities.traces);
  return known.includes('parity') && !known.includes('debug');
}

/** Asks one upstream after another until the traces are those that were asked for. */
async function askChecked(
  pool: UpstreamPool,
  { method, params, parse }: TraceCall,
  signal: AbortSignal | undefined,
): Promise<InternalTransaction[]> {
  const refused = new Set<string>();
  for (;;) {
    const answer = await pool.request(method, params, {
      exclude: refused,
      timeoutMs: TRACE_TIMEOUT_MS,
      ...(signal === undefined ? {} : { signal }),
    });
    try {
      return parse(answer.value);
    } catch (error) {
      if (error instanceof MalformedAnswerError || error instanceof InvalidPrimitiveError)
        pool.reportFault(answer.upstream, 'malformed', { method, reason: error.message });
      // By number a node may answer for the block that has taken this one's place, which is no fault of its own.
      else if (!(error instanceof ChainMovedError)) throw error;
      // Once all are excluded, the pool says so.
      refused.add(answer.upstream);
    }
  }
}
