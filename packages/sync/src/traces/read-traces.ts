import type { Chain } from '@chainstead/chains';
import { type Hash, toQuantity, ZERO_ADDRESS } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { executedTransactions } from '../executed-transactions.ts';
import type { ProvenBlock } from '../proven-block.ts';
import type { InternalTransaction } from '../whole-block.ts';
import { askForTraces, type TracesRead } from './ask-for-traces.ts';
import { callsOfFrames } from './call-frames.ts';
import { checkCalls } from './check-calls.ts';
import { checkPayers } from './check-payers.ts';
import { callsOfFlatTraces } from './flat-traces.ts';

/** Whose traces are wanted. */
export type TracedBlock = Pick<ProvenBlock, 'header' | 'block' | 'receipts' | 'parts'>;

/**
 * The calls of a block in the order of its execution, the transactions themselves included, from `debug_traceBlockByHash` with
 * the callTracer or from `trace_block`, whichever the upstreams have. Where transactions were proven, traces that begin with others
 * are refused, and those in which an account pays whose code does not run.
 * @throws UpstreamsExhaustedError when none can answer now, also because the height holds another block by now.
 */
export function readTraces(
  { pool, chain }: { readonly pool: UpstreamPool; readonly chain: Chain },
  traced: TracedBlock,
  signal?: AbortSignal,
): Promise<TracesRead> {
  const { header, block } = traced;
  if (block.transactionHashes.length === 0) return Promise.resolve({ calls: [] });
  const executed = executedOf(traced);
  const frames = {
    method: 'debug_traceBlockByHash',
    params: [header.hash, { tracer: 'callTracer', timeout: '40s' }],
    parse: (result: unknown) => checked(traced, callsOfFrames(result, { hashes: block.transactionHashes, executed })),
  };
  const flat = {
    method: 'trace_block',
    params: [toQuantity(header.number)],
    parse: (result: unknown) =>
      checked(traced, callsOfFlatTraces(result, { chain: chain.key, hash: header.hash, executed })),
  };
  return askForTraces(pool, { frames, flat }, signal);
}

function checked(traced: TracedBlock, calls: InternalTransaction[]): InternalTransaction[] {
  if (traced.parts.transactions?.level !== 'receipts') return calls;
  checkCalls(calls, executedTransactions(traced));
  checkPayers(calls);
  return calls;
}

/**
 * The transactions of which a node must have traces: all but those that nobody sent (Polygon's state sync), and those that were
 * never executed and have no receipt (Cronos, HyperEVM).
 */
function executedOf({ receipts }: TracedBlock): ReadonlySet<Hash> {
  return new Set(receipts.filter(({ raw }) => raw.from !== ZERO_ADDRESS).map((receipt) => receipt.transactionHash));
}
