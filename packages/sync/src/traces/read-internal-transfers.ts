import type { Chain } from '@chainstead/chains';
import { type Hash, InvalidPrimitiveError, type Logger, toQuantity, ZERO_ADDRESS } from '@chainstead/core';
import { MalformedAnswerError, RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import type { InternalTransfer } from '../block-watcher.ts';
import { ChainMovedError } from '../errors.ts';
import type { ProvenBlock } from '../proven-block.ts';
import { transfersOfCallFrames } from './call-frames.ts';
import { transfersOfFlatTraces } from './flat-traces.ts';

/** Whose traces are wanted. */
export type TracedBlock = Pick<ProvenBlock, 'header' | 'block' | 'receipts'>;

/** One attempt: tracing executes the whole block again. Milliseconds. */
const TRACE_TIMEOUT_MS = 45_000;
/** A chain without traces lacks them in every block; the log says so now and then. */
const BLOCKS_PER_WARNING = 20;

/**
 * The internal transfers of a block in the order of its execution, from `debug_traceBlockByHash` with the callTracer or from
 * `trace_block`, whichever the upstreams have. Where none has either, there are none: said in the log, as a chain must
 * not stand still for it.
 * @throws UpstreamsExhaustedError when they can't be had now, also because the height holds another block by now.
 */
export async function readInternalTransfers(
  reader: { readonly pool: UpstreamPool; readonly chain: Chain; readonly logger: Logger },
  traced: TracedBlock,
  signal?: AbortSignal,
): Promise<readonly InternalTransfer[]> {
  const { pool, chain, logger } = reader;
  if (traced.block.transactionHashes.length === 0) return [];
  const refusals: string[] = [];
  for (const read of isParityOnly(pool) ? [readFlat, readFrames] : [readFrames, readFlat])
    try {
      return await read(pool, chain, traced, signal);
    } catch (error) {
      if (!(error instanceof RpcCallError)) throw error;
      refusals.push(error.message);
    }
  const level = traced.header.number % BLOCKS_PER_WARNING === 0 ? 'warn' : 'debug';
  logger[level](
    { chain: chain.key, block: traced.header.number, refusals },
    'No upstream gives traces: internal transfers of the block are not matched',
  );
  return [];
}

function isParityOnly(pool: UpstreamPool): boolean {
  const known = pool.status().map(({ capabilities }) => capabilities.traces);
  return known.includes('parity') && !known.includes('debug');
}

async function readFrames(pool: UpstreamPool, _chain: Chain, traced: TracedBlock, signal?: AbortSignal) {
  const params = [traced.header.hash, { tracer: 'callTracer', timeout: '40s' }];
  return readChecked(pool, { method: 'debug_traceBlockByHash', params }, signal, (result) =>
    transfersOfCallFrames(result, traced.block.transactionHashes, executed(traced)),
  );
}

async function readFlat(pool: UpstreamPool, chain: Chain, traced: TracedBlock, signal?: AbortSignal) {
  const params = [toQuantity(traced.header.number)];
  return readChecked(pool, { method: 'trace_block', params }, signal, (result) =>
    transfersOfFlatTraces(result, { chain: chain.key, hash: traced.header.hash, executed: executed(traced) }),
  );
}

/** Asks one upstream after another until the traces are those of the block. */
async function readChecked(
  pool: UpstreamPool,
  call: { readonly method: string; readonly params: readonly unknown[] },
  signal: AbortSignal | undefined,
  parse: (result: unknown) => InternalTransfer[],
): Promise<InternalTransfer[]> {
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
