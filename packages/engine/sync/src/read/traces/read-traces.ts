import type { Chain } from '@chainstead/chains';
import { toQuantity, ZERO_ADDRESS } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import type { InternalTransaction } from '../../dataset/whole-block.ts';
import { executedTransactions } from '../executed-transactions.ts';
import type { ProvenBlock } from '../proven-block.ts';
import { callsOfFrames } from './call-frames.ts';
import { checkCalls } from './check-calls.ts';
import { checkPayers } from './check-payers.ts';
import { callsOfFlatTraces } from './flat-traces.ts';
import { requestTraces, type TracesRead } from './request-traces.ts';

export type TracedBlock = Pick<ProvenBlock, 'header' | 'block' | 'receipts' | 'parts'>;

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
