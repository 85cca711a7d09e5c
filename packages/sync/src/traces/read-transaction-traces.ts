import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { MalformedAnswerError, type UpstreamPool } from '@chainstead/rpc';
import type { InternalTransaction } from '../whole-block.ts';
import { askForTraces, type TracesRead } from './ask-for-traces.ts';
import { callsOfFrames } from './call-frames.ts';
import { type CheckableTransaction, checkCalls } from './check-calls.ts';
import { checkPayers } from './check-payers.ts';
import { callsOfFlatTraces } from './flat-traces.ts';

/** A transaction whose traces are wanted. */
export interface TracedTransaction extends CheckableTransaction {
  /** The block that it is in. */
  readonly blockHash: Hash;
  /** Whether a header proves what it says of itself: then its traces have to fit it. */
  readonly isProven: boolean;
}

/**
 * The calls of one transaction in the order of execution, itself included, from `debug_traceTransaction` with the callTracer or from
 * `trace_transaction`, whichever the upstreams have; checked as those of {@link readTraces} are.
 * @throws UpstreamsExhaustedError when none can answer now
 */
export function readTransactionTraces(
  { pool, chain }: { readonly pool: UpstreamPool; readonly chain: Chain },
  traced: TracedTransaction,
  signal?: AbortSignal,
): Promise<TracesRead> {
  const { hash, blockHash } = traced;
  const executed = new Set([hash]);
  const frames = {
    method: 'debug_traceTransaction',
    params: [hash, { tracer: 'callTracer', timeout: '40s' }],
    parse: (result: unknown) => checked(traced, callsOfFrames([{ result }], { hashes: [hash], executed })),
  };
  const flat = {
    method: 'trace_transaction',
    params: [hash],
    parse: (result: unknown) =>
      checked(traced, callsOfFlatTraces(result, { chain: chain.key, hash: blockHash, executed })),
  };
  return askForTraces(pool, { frames, flat }, signal);
}

function checked(traced: TracedTransaction, calls: InternalTransaction[]): InternalTransaction[] {
  const other = calls.find(({ transactionHash }) => transactionHash !== traced.hash);
  if (other !== undefined)
    throw new MalformedAnswerError(`A trace of ${other.transactionHash} came for ${traced.hash}`);
  if (!traced.isProven) return calls;
  checkCalls(calls, [traced]);
  checkPayers(calls);
  return calls;
}
