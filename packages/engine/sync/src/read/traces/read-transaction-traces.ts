import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { MalformedAnswerError, type UpstreamPool } from '@chainstead/rpc';
import type { InternalTransaction } from '../../dataset/whole-block.ts';
import { callsOfFrames } from './call-frames.ts';
import { type CheckableTransaction, checkCalls } from './check-calls.ts';
import { checkPayers } from './check-payers.ts';
import { callsOfFlatTraces } from './flat-traces.ts';
import { requestTraces, type TracesRead } from './request-traces.ts';

export interface TracedTransaction extends CheckableTransaction {
  readonly blockHash: Hash;
  /** A header proves its fields: the traces must match them. */
  readonly isProven: boolean;
}

/** Checked like {@link readTraces}, itself included. @throws UpstreamsExhaustedError */
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
  return requestTraces(pool, { frames, flat }, signal);
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
