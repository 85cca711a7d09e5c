/** One chunk of a backfill: claimed, read and decoded, and then committed in one transaction. */
import { type BlockRange, rangeSize } from '@chainstead/core';
import type { BackfillOptions } from './backfill.ts';
import { isReadWhole, notDone, type Stretch } from './backfill-stretches.ts';
import type { ChunkSizing } from './chunk-size.ts';
import { commitRange } from './commit-range.ts';
import type { Dataset } from './dataset.ts';
import { batchOf, createBatchDecoder } from './decoded-batch.ts';
import { ChainMovedError } from './errors.ts';
import { type DecodedRange, logsWanted, readRangeFast, readRangeProven, wholeDatasets } from './read-range.ts';
import { isFinal, untilItSucceeds } from './retry-range.ts';
import { partsOf } from './whole-block.ts';

/** Of each chunk; with the chunks, as many as an upstream is asked at once: with fewer, 50 ms to the node are half of the time. */
const PROVEN_READS_IN_FLIGHT = 6;

/** Null when another process holds a part of the range, or has covered one since this work was planned. */
export async function readClaimed(
  options: BackfillOptions,
  stretch: Stretch,
  range: BlockRange,
  sizing: ChunkSizing,
  signal: AbortSignal,
): Promise<DecodedRange | null> {
  const { chain, owner, kind, purpose = 'backfill' } = options;
  if (!(await owner.claim(chain.id, range, kind === 'replace' ? 'reindex' : purpose))) {
    // Of those that share a backfill, one is a little later now and then.
    options.logger[kind === 'replace' ? 'info' : 'debug'](
      { chain: chain.key, block_range: `${range.from}-${range.to}` },
      'Range is claimed by another process; it is tried again later',
    );
    return null;
  }
  try {
    const [open] = await notDone(options, stretch, range);
    if (
      open === undefined ||
      rangeSize(open.range) < rangeSize(range) ||
      open.datasets.length < stretch.datasets.length
    ) {
      await owner.release(chain.id, range);
      return null;
    }
    const read = await readDecoded(options, stretch.datasets, range, signal);
    sizing.seen(rangeSize(range), read.logCount);
    return read;
  } catch (error) {
    await owner.release(chain.id, range);
    throw error;
  }
}

async function readDecoded(
  options: BackfillOptions,
  datasets: readonly Dataset[],
  range: BlockRange,
  signal: AbortSignal,
): Promise<DecodedRange> {
  const { pool, chain, rowsAtOnce } = options;
  const decoder = createBatchDecoder(chain, datasets, rowsAtOnce);
  if (isReadWhole(options, datasets)) {
    const parts = partsOf(datasets, chain);
    const leavesOut = !parts.has('logs');
    return readRangeProven({ ...options, parts, leavesOut, depth: PROVEN_READS_IN_FLIGHT, signal }, range, decoder);
  }
  const { logs, ...read } = await readRangeFast(pool, range, logsWanted(chain, datasets), signal);
  decoder.add(logs, read.blocks.values());
  return { ...read, logCount: logs.length, lacking: new Map(), batch: decoder.batch() };
}

export async function commitRead(
  options: BackfillOptions,
  stretch: Stretch,
  read: DecodedRange,
  signal: AbortSignal,
): Promise<void> {
  const { chain, metrics, owner, kind } = options;
  const started = options.clock.now();
  // Rows that are there stay where they could not be read anew.
  const datasets = kind === 'replace' ? wholeDatasets({ chain, datasets: stretch.datasets }, read) : stretch.datasets;
  const batch = batchOf(read.batch, datasets);
  const rows = await untilItSucceeds(
    options,
    read.range,
    signal,
    () => commitRange(options, { read, batch, datasets, owner, kind }),
    // What was read of another branch stays so.
    (error) => isFinal(error) || error instanceof ChainMovedError,
  );
  read.batch.release();
  metrics.commitSeconds.observe({ chain: chain.key, kind: 'backfill' }, (options.clock.now() - started) / 1000);
  metrics.blocks.inc({ chain: chain.key, kind: 'backfill' }, rangeSize(read.range));
  metrics.logs.inc({ chain: chain.key, kind: 'backfill' }, read.logCount);
  for (const [dataset, count] of rows) metrics.rows.inc({ chain: chain.key, dataset }, count);
}
