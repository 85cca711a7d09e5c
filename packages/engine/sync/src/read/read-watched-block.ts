import type { Hash, Logger } from '@chainstead/core';
import { BlockTooLargeError, RequestAbortedError, UpstreamsExhaustedError } from '@chainstead/rpc';
import type { BlockPart, InternalTransaction, InternalTransfer, PartProof } from '../dataset/whole-block.ts';
import type { WatchNeeds } from './block-watcher.ts';
import { readInTurn, withoutContents } from './large-blocks.ts';
import { type BlockReader, type ProvenBlock, type ProvenReadOptions, readProvenBlock } from './proven-block.ts';
import { readTraces, type TracesRead } from './traces/read-traces.ts';

export interface WatchedReader extends BlockReader {
  readonly logger: Logger;
  readonly parts?: ReadonlySet<BlockPart>;
  readonly storesSender?: ProvenReadOptions['storesSender'];
  /** For traces that only datasets need. @default unlimited */
  readonly tracePatienceMs?: number;
  readonly senders?: ProvenReadOptions['senders'];
  /** Waits for the turn of a very large block. @default no wait */
  readonly enterLarge?: (() => Promise<void>) | undefined;
  /** A block that is too large comes without contents, with the reason in `parts`. */
  readonly leavesGaps?: boolean;
}

/** On a chain without traces every block lacks them. */
const BLOCKS_PER_WARNING = 20;
const NOTHING: ReadonlySet<BlockPart> = new Set();

/**
 * Null if no upstream has the block. Without traces, `parts` contain the reason.
 * @throws UnprovenBlockError, UpstreamsExhaustedError; BlockTooLargeError without `leavesGaps`
 */
export async function readWatchedBlock(
  reader: WatchedReader,
  at: number | Hash,
  needs: WatchNeeds,
  signal?: AbortSignal,
): Promise<ProvenBlock | null> {
  const { parts = NOTHING, senders = 'wait' } = reader;
  const storesSender = needs.transactions ? undefined : reader.storesSender;
  const isTraced = parts.has('internalTransactions');
  const proven = isTraced || parts.has('transactions') || needs.provenTransactions === true;
  const { mode, verifiesSenders } = reader.chain.transactions;
  const requested = mode !== 'off' && verifiesSenders ? 'signed' : 'proven';
  const transactions = proven ? requested : needs.transactions ? 'given' : 'none';
  const block = await readInTurn(reader.enterLarge, (size) =>
    readProvenBlock(reader, at, { signal, transactions, storesSender, senders, ...size }),
  ).catch((error: unknown) => {
    if (reader.leavesGaps === true && error instanceof BlockTooLargeError)
      return withoutContents(reader, at, error, signal);
    throw error;
  });
  if (block?.parts.logs !== undefined) return block;
  if (block === null || !(isTraced || needs.internalTransfers)) return block;
  const traces = needs.internalTransfers
    ? await readTracesUnlessTooLarge(reader, block, signal)
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

async function readTracesUnlessTooLarge(reader: WatchedReader, block: ProvenBlock, signal?: AbortSignal) {
  try {
    return await readTraces(reader, block, signal);
  } catch (error) {
    if (!(error instanceof UpstreamsExhaustedError) || !error.isTooLarge) throw error;
    const fields = { chain: reader.chain.key, block: block.header.number, reason: error.message };
    reader.logger.error(fields, 'Traces of a block are too large: its internal transactions are missing');
    return { failure: error.message };
  }
}

/** Traces that only datasets need don't delay the block: they are backfilled later. */
async function readTracesIfPossible(reader: WatchedReader, block: ProvenBlock, signal?: AbortSignal) {
  const { tracePatienceMs } = reader;
  const patience = tracePatienceMs === undefined ? undefined : AbortSignal.timeout(tracePatienceMs);
  try {
    return await readTraces(
      reader,
      block,
      AbortSignal.any([signal, patience].filter((limit) => limit !== undefined)),
    );
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UpstreamsExhaustedError || error instanceof RequestAbortedError)
      return { failure: error.message };
    throw error;
  }
}

/** No header commits to traces: at best, they match proven transactions. */
function tracesProof(
  { parts: { transactions } }: ProvenBlock,
  traces: TracesRead | { readonly failure: string },
): PartProof {
  if ('failure' in traces) return { level: 'unavailable', reason: traces.failure, isUnsupported: false };
  const unsupported = 'refusals' in traces ? `no upstream has traces: ${traces.refusals.join('; ')}` : null;
  if (unsupported !== null) return { level: 'unavailable', reason: unsupported, isUnsupported: true };
  if (transactions?.level === 'unproven' || transactions?.level === 'unavailable') return transactions;
  return { level: 'not-applicable', reason: null };
}

function reportMissing(
  { chain, logger }: WatchedReader,
  { header }: ProvenBlock,
  refusals: readonly string[],
): void {
  const level = header.number % BLOCKS_PER_WARNING === 0 ? 'warn' : 'debug';
  logger[level](
    { chain: chain.key, block: header.number, refusals },
    'No upstream gives traces: internal transactions of the block are missing',
  );
}

export function internalTransfers(calls: readonly InternalTransaction[]): InternalTransfer[] {
  return calls.flatMap(({ transactionHash, traceAddress, from, to, value, gas, isReverted }) =>
    isReverted || traceAddress.length === 0 || value === 0n || to === null
      ? []
      : [{ transactionHash, from, to, value, gas }],
  );
}
