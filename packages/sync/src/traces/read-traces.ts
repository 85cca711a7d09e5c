import type { Chain } from '@chainstead/chains';
import { type Hash, InvalidPrimitiveError, toQuantity, ZERO_ADDRESS } from '@chainstead/core';
import { MalformedAnswerError, RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import { ChainMovedError } from '../errors.ts';
import { executedTransactions } from '../executed-transactions.ts';
import type { ProvenBlock } from '../proven-block.ts';
import type { InternalTransaction } from '../whole-block.ts';
import { callsOfFrames } from './call-frames.ts';
import { checkCalls } from './check-calls.ts';
import { callsOfFlatTraces } from './flat-traces.ts';

/** Whose traces are wanted. */
export type TracedBlock = Pick<ProvenBlock, 'header' | 'block' | 'receipts' | 'parts'>;

/** All calls of a block, or what the upstreams said where none of them has traces. */
export type TracesRead = { readonly calls: readonly InternalTransaction[] } | { readonly refusals: readonly string[] };

/** One attempt: tracing executes the whole block again. Milliseconds. */
const TRACE_TIMEOUT_MS = 45_000;

/**
 * The calls of a block in the order of its execution, the transactions themselves included, from `debug_traceBlockByHash` with
 * the callTracer or from `trace_block`, whichever the upstreams have. Where transactions were proven, traces that begin with others
 * are refused.
 * @throws UpstreamsExhaustedError when none can answer now, also because the height holds another block by now.
 */
export async function readTraces(
  { pool, chain }: { readonly pool: UpstreamPool; readonly chain: Chain },
  traced: TracedBlock,
  signal?: AbortSignal,
): Promise<TracesRead> {
  if (traced.block.transactionHashes.length === 0) return { calls: [] };
  const refusals: string[] = [];
  for (const read of isParityOnly(pool) ? [readFlat, readFrames] : [readFrames, readFlat])
    try {
      return { calls: await read(pool, chain, traced, signal) };
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

async function readFrames(pool: UpstreamPool, _chain: Chain, traced: TracedBlock, signal?: AbortSignal) {
  const params = [traced.header.hash, { tracer: 'callTracer', timeout: '40s' }];
  const transactions = { hashes: traced.block.transactionHashes, executed: executed(traced) };
  return readChecked(pool, { method: 'debug_traceBlockByHash', params }, signal, (result) =>
    checked(traced, callsOfFrames(result, transactions)),
  );
}

async function readFlat(pool: UpstreamPool, chain: Chain, traced: TracedBlock, signal?: AbortSignal) {
  const params = [toQuantity(traced.header.number)];
  const block = { chain: chain.key, hash: traced.header.hash, executed: executed(traced) };
  return readChecked(pool, { method: 'trace_block', params }, signal, (result) =>
    checked(traced, callsOfFlatTraces(result, block)),
  );
}

function checked(traced: TracedBlock, calls: InternalTransaction[]): InternalTransaction[] {
  if (traced.parts.transactions?.level === 'receipts') checkCalls(calls, executedTransactions(traced));
  return calls;
}

/** Asks one upstream after another until the traces are those of the block. */
async function readChecked(
  pool: UpstreamPool,
  call: { readonly method: string; readonly params: readonly unknown[] },
  signal: AbortSignal | undefined,
  parse: (result: unknown) => InternalTransaction[],
): Promise<InternalTransaction[]> {
  const refused = new Set<string>();
  for (;;) {
    const answer = await pool.request(call.method, call.params, {
      exclude: refused,
      timeoutMs: TRACE_TIMEOUT_MS,
      ...(signal === undefined ? {} : { signal }),
    });
    try {
      return parse(answer.value);
    } catch (error) {
      if (error instanceof MalformedAnswerError || error instanceof InvalidPrimitiveError)
        pool.reportFault(answer.upstream, 'malformed', { method: call.method, reason: error.message });
      // By number a node may answer for the block that has taken this one's place, which is no fault of its own.
      else if (!(error instanceof ChainMovedError)) throw error;
      // Once all are excluded, the pool says so.
      refused.add(answer.upstream);
    }
  }
}

/**
 * The transactions of which a node must have traces: all but those that nobody sent (Polygon's state sync), and those that were
 * never executed and have no receipt (Cronos, HyperEVM).
 */
function executed({ receipts }: TracedBlock): ReadonlySet<Hash> {
  return new Set(receipts.filter(({ raw }) => raw.from !== ZERO_ADDRESS).map((receipt) => receipt.transactionHash));
}
