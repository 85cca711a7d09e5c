import type { Chain } from '@chainstead/chains';
import { type Hash, InvalidPrimitiveError, toQuantity, ZERO_ADDRESS } from '@chainstead/core';
import { MalformedAnswerError, RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import type { InternalTransaction } from '../../dataset/whole-block.ts';
import { ReorgedWhileReadingError } from '../../errors.ts';
import { executedTransactions } from '../executed-transactions.ts';
import type { ProvenBlock } from '../proven-block.ts';
import { callsOfFlatTraces, callsOfFrames } from './call-frames.ts';
import { type CheckableTransaction, checkCalls, checkPayers } from './check-calls.ts';

type TracedBlock = Pick<ProvenBlock, 'header' | 'block' | 'receipts' | 'parts'>;

/** In execution order, checked against transactions and payers. @throws UpstreamsExhaustedError */
export function readTraces(
  { pool, chain }: { readonly pool: UpstreamPool; readonly chain: Chain },
  traced: TracedBlock,
  signal?: AbortSignal,
): Promise<TracesRead> {
  const { header, block } = traced;
  if (block.transactionHashes.length === 0) return Promise.resolve({ calls: [] });
  // Some have no sender (Polygon's state sync) or no receipt (Cronos, HyperEVM).
  const withSender = traced.receipts.filter(({ raw }) => raw.from !== ZERO_ADDRESS);
  const executed = new Set(withSender.map((receipt) => receipt.transactionHash));
  const frames = {
    method: 'debug_traceBlockByHash',
    params: [header.hash, { tracer: 'callTracer', timeout: '40s' }],
    parse: (result: unknown) =>
      checked(traced, callsOfFrames(result, { hashes: block.transactionHashes, executed })),
  };
  const flat = {
    method: 'trace_block',
    params: [toQuantity(header.number)],
    parse: (result: unknown) =>
      checked(traced, callsOfFlatTraces(result, { chain: chain.key, hash: header.hash, executed })),
  };
  return requestTraces(pool, { frames, flat }, signal);
}

function checked(traced: TracedBlock, calls: InternalTransaction[]): InternalTransaction[] {
  if (traced.parts.transactions?.level !== 'receipts') return calls;
  checkCalls(calls, executedTransactions(traced));
  checkPayers(calls);
  return calls;
}

interface TracedTransaction extends CheckableTransaction {
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
    parse: (result: unknown) =>
      checkedTransaction(traced, callsOfFrames([{ result }], { hashes: [hash], executed })),
  };
  const flat = {
    method: 'trace_transaction',
    params: [hash],
    parse: (result: unknown) =>
      checkedTransaction(traced, callsOfFlatTraces(result, { chain: chain.key, hash: blockHash, executed })),
  };
  return requestTraces(pool, { frames, flat }, signal);
}

function checkedTransaction(traced: TracedTransaction, calls: InternalTransaction[]): InternalTransaction[] {
  const other = calls.find(({ transactionHash }) => transactionHash !== traced.hash);
  if (other !== undefined)
    throw new MalformedAnswerError(`A trace of ${other.transactionHash} came for ${traced.hash}`);
  if (!traced.isProven) return calls;
  checkCalls(calls, [traced]);
  checkPayers(calls);
  return calls;
}

/** `calls` include the transactions. `refusals`: no upstream supports traces. */
export type TracesRead =
  | { readonly calls: readonly InternalTransaction[] }
  | { readonly refusals: readonly string[] };

interface TraceCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** @throws MalformedAnswerError, InvalidPrimitiveError, ReorgedWhileReadingError */
  parse(result: unknown): InternalTransaction[];
}

/** Per attempt: tracing executes the transactions again. */
const TRACE_TIMEOUT_MS = 45_000;

/** From the callTracer or flat, whichever is supported. @throws UpstreamsExhaustedError */
async function requestTraces(
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
