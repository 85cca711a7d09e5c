import type { Hash, Logger } from '@chainstead/core';
import { RequestAbortedError, UpstreamsExhaustedError } from '@chainstead/rpc';
import type { WatchNeeds } from './block-watcher.ts';
import { type BlockReader, type ProvenBlock, type ProvenReadOptions, readProvenBlock } from './proven-block.ts';
import type { TracesRead } from './traces/ask-for-traces.ts';
import { internalTransfers } from './traces/internal-transfers.ts';
import { readTraces } from './traces/read-traces.ts';
import type { BlockPart, PartProof } from './whole-block.ts';

/** What whole blocks are read with. */
export interface WatchedReader extends BlockReader {
  readonly logger: Logger;
  /** What datasets read of them. */
  readonly parts?: ReadonlySet<BlockPart>;
  /** How long traces may keep a block waiting that only datasets want. Milliseconds; by default as long as it takes. */
  readonly tracePatienceMs?: number;
  /** As of {@link ProvenReadOptions}. */
  readonly senders?: ProvenReadOptions['senders'];
}

/** A chain without traces lacks them in every block; the log says so now and then. */
const BLOCKS_PER_WARNING = 20;
const NOTHING: ReadonlySet<BlockPart> = new Set();

/**
 * A proven block with all that is needed of it: transaction objects come with the block, calls from its traces. Where no upstream
 * has traces, there are no internal transfers, and `parts` say why datasets lack them: a chain must not stand still for it.
 * Null when no upstream has the block. @throws UnprovenBlockError, UpstreamsExhaustedError
 */
export async function readWatchedBlock(
  reader: WatchedReader,
  at: number | Hash,
  needs: WatchNeeds,
  signal?: AbortSignal,
): Promise<ProvenBlock | null> {
  const { parts = NOTHING, senders = 'wait' } = reader;
  const isTraced = parts.has('internalTransactions');
  const proven = isTraced || parts.has('transactions') || needs.provenTransactions === true;
  const { mode, provesSenders } = reader.chain.transactions;
  const asked = mode !== 'off' && provesSenders ? 'signed' : 'proven';
  const transactions = proven ? asked : needs.transactions ? 'given' : 'none';
  const block = await readProvenBlock(reader, at, { signal, transactions, senders });
  if (block === null || !(isTraced || needs.internalTransfers)) return block;
  const traces = needs.internalTransfers
    ? await readTraces(reader, block, signal)
    : await readTracesIfPossible(reader, block, signal);
  const calls = 'calls' in traces ? traces.calls : [];
  if ('refusals' in traces) reportMissing(reader, block, traces.refusals);
  return {
    ...block,
    internalTransfers: needs.internalTransfers ? internalTransfers(calls) : null,
    internalTransactions: isTraced ? calls.filter(({ traceAddress }) => traceAddress.length > 0) : null,
    parts: isTraced ? { ...block.parts, internalTransactions: tracesProof(block, traces) } : block.parts,
  };
}

/** What only datasets want keeps nobody waiting: they come to it later. */
async function readTracesIfPossible(
  reader: WatchedReader,
  block: ProvenBlock,
  signal: AbortSignal | undefined,
): Promise<TracesRead | { readonly failure: string }> {
  const { tracePatienceMs } = reader;
  const limits = [
    ...(signal === undefined ? [] : [signal]),
    ...(tracePatienceMs === undefined ? [] : [AbortSignal.timeout(tracePatienceMs)]),
  ];
  try {
    return await readTraces(reader, block, AbortSignal.any(limits));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UpstreamsExhaustedError || error instanceof RequestAbortedError)
      return { failure: error.message };
    throw error;
  }
}

/** No header commits to traces: at best they fit transactions that are proven. */
function tracesProof(
  { parts: { transactions } }: ProvenBlock,
  traces: TracesRead | { readonly failure: string },
): PartProof {
  if ('failure' in traces) return { level: 'unavailable', reason: traces.failure, isUnsupported: false };
  if ('refusals' in traces)
    return {
      level: 'unavailable',
      reason: `no upstream has traces: ${traces.refusals.join('; ')}`,
      isUnsupported: true,
    };
  if (transactions?.level === 'unproven' || transactions?.level === 'unavailable') return transactions;
  return { level: 'not-applicable', reason: null };
}

function reportMissing({ chain, logger }: WatchedReader, { header }: ProvenBlock, refusals: readonly string[]): void {
  const level = header.number % BLOCKS_PER_WARNING === 0 ? 'warn' : 'debug';
  logger[level](
    { chain: chain.key, block: header.number, refusals },
    'No upstream gives traces: internal transactions of the block are missing',
  );
}
