import type { ProofPolicy } from '@chainstead/chains';
import { type BlockRange, type Logger, rangeSize } from '@chainstead/core';
import type { RecoverSigners } from '@chainstead/proof';
import { RangeTooLargeError } from '@chainstead/rpc';
import type { HistorySources } from '@chainstead/sources';
import { DATA_WEIGHT_MAX, PART_WEIGHT } from '../backfill/backfill-chunk.ts';
import { chunksOf } from '../backfill/backfill-ranges.ts';
import { PROVEN_CHUNK } from '../backfill/chunk-work.ts';
import { halvesOf } from '../backfill/retry-range.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { readingOf } from '../dataset/whole-block.ts';
import { OtherChainError } from '../errors.ts';
import { createChunkSizing } from '../read/chunk-size.ts';
import { type BatchDecoder, createBatchDecoder } from '../read/decoded-batch.ts';
import { type Linking, linkRange } from '../read/link-range.ts';
import {
  type DecodedRange,
  mayReadFromSource,
  type ProvenReading,
  readRangeProven,
  readSourceParts,
} from '../read/read-range.ts';

/** Waits before each block from a node, and after each block from a source. */
export type ReadingTurn = (signal: AbortSignal, from: 'node' | 'source') => Promise<void>;

export interface PartsOptions extends Linking {
  readonly datasets: readonly Dataset[];
  /** Read before nodes, in order. @default none */
  readonly sources?: HistorySources | undefined;
  readonly policy: ProofPolicy;
  readonly recoverSigners?: RecoverSigners | undefined;
  readonly logger: Logger;
  readonly rowsAtOnce?: number;
  readonly turn?: ReadingTurn;
}

/**
 * Whole blocks of the range, in parts as small as those of a backfill. A source is read first. Nodes read the rest from
 * its end, so that each part is linked to the one before. Each part must be released.
 *
 * @throws UnprovenBlockError, OtherChainError
 */
export async function* readProvenParts(
  options: PartsOptions,
  range: BlockRange,
  depth: number,
  signal: AbortSignal,
): AsyncGenerator<DecodedRange> {
  const { chain, datasets, sources, turn, rowsAtOnce } = options;
  const newDecoder = () => createBatchDecoder(chain, datasets, rowsAtOnce);
  const whole = readingOf(datasets, chain);
  const turnOfNode = async (stop: AbortSignal): Promise<void> => turn?.(stop, 'node');
  const reading = { ...options, ...whole, depth, signal, turn: turnOfNode };
  const chosen = mayReadFromSource(chain, whole.parts) ? await sources?.choose('blocks', range, signal) : null;
  let { from } = range;
  if (chosen !== null && chosen !== undefined)
    try {
      for await (const read of readSourceParts({ ...reading, unitWeight: PART_WEIGHT }, chosen, newDecoder)) {
        const blocks = rangeSize(read.range);
        yield await linked(reading, read, true);
        from = read.range.to + 1;
        for (let block = 0; block < blocks; block++) await turn?.(signal, 'source');
      }
    } catch (error) {
      if (!(error instanceof OtherChainError)) throw error;
      chosen.failed(error, { from, to: range.to });
    }
  const sizing = createChunkSizing(PROVEN_CHUNK);
  for (const chunk of chunksOf({ order: ORDER }, { from, to: range.to }, sizing))
    for await (const read of readHalved(reading, chunk, newDecoder)) {
      sizing.seen(rangeSize(read.range), read.weight);
      yield read;
    }
}

const ORDER = 'newest-first';
/** An upstream that was on another chain is excluded, or less likely to be chosen again. */
const READS_MAX = 3;

async function* readHalved(
  reading: ProvenReading & Linking,
  range: BlockRange,
  newDecoder: () => BatchDecoder,
): AsyncGenerator<DecodedRange> {
  const read = await readLinked(reading, range, newDecoder);
  if (read !== null) yield read;
  else for (const half of halvesOf(ORDER, range)) yield* readHalved(reading, half, newDecoder);
}

async function readLinked(reading: ProvenReading & Linking, range: BlockRange, newDecoder: () => BatchDecoder) {
  for (let reads = 1; ; reads++) {
    const read = await readUpTo(reading, range, newDecoder());
    if (read === null) return null;
    try {
      return await linked(reading, read);
    } catch (error) {
      if (!(error instanceof OtherChainError) || reads >= READS_MAX) throw error;
    }
  }
}

async function linked(
  reading: ProvenReading & Linking,
  read: DecodedRange,
  isConfirmed?: boolean,
): Promise<DecodedRange> {
  try {
    return await linkRange(reading, read, reading.signal, isConfirmed);
  } catch (error) {
    read.batch.release();
    throw error;
  }
}

/** Null if the blocks are too many bytes to hold. */
async function readUpTo(...[reading, range, decoder]: Parameters<typeof readRangeProven>) {
  try {
    return await readRangeProven({ ...reading, weightMax: DATA_WEIGHT_MAX }, range, decoder);
  } catch (error) {
    if (error instanceof RangeTooLargeError) return null;
    throw error;
  }
}
