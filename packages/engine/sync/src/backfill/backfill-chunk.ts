import { type BlockRange, rangeSize } from '@chainstead/core';
import { commitRange } from '../commit/commit-range.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { partsOf } from '../dataset/whole-block.ts';
import { ReorgedWhileReadingError } from '../errors.ts';
import type { ChunkSizing } from '../read/chunk-size.ts';
import { withoutFailures } from '../read/dataset-failures.ts';
import { batchOf, createBatchDecoder } from '../read/decoded-batch.ts';
import {
  type DecodedRange,
  logsWanted,
  readRangeFast,
  readRangeProven,
  wholeDatasets,
} from '../read/read-range.ts';
import { weighLogs } from '../read/weigh.ts';
import type { BackfillOptions } from './backfill-options.ts';
import { type BackfillRange, isReadWhole, notDone } from './backfill-ranges.ts';
import { isFinal, untilItSucceeds } from './retry-range.ts';

/** With fewer reads than an upstream's concurrency times the chunks, round trips dominate. */
const PROVEN_READS_IN_FLIGHT = 6;
const DATA_WEIGHT_MAX = 12_000;

/** Null if another process holds or has covered part of the range. */
export async function readClaimed(
  options: BackfillOptions,
  span: BackfillRange,
  range: BlockRange,
  sizing: ChunkSizing,
  signal: AbortSignal,
): Promise<DecodedRange | null> {
  const { chain, owner, kind, purpose = 'backfill' } = options;
  if (!(await owner.claim(chain.id, range, kind === 'replace' ? 'reindex' : purpose))) {
    options.logger[kind === 'replace' ? 'info' : 'debug'](
      { chain: chain.key, block_range: `${range.from}-${range.to}` },
      'Range is claimed by another process; it is tried again later',
    );
    return null;
  }
  try {
    const [open] = await notDone(options, span, range);
    if (
      open === undefined ||
      rangeSize(open.range) < rangeSize(range) ||
      open.datasets.length < span.datasets.length
    ) {
      await owner.release(chain.id, range);
      return null;
    }
    const read = await readDecoded(options, span.datasets, range, signal);
    sizing.seen(rangeSize(range), read.weight);
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
    return readRangeProven(
      { ...options, parts, leavesOut, depth: PROVEN_READS_IN_FLIGHT, weightMax: DATA_WEIGHT_MAX, signal },
      range,
      decoder,
    );
  }
  const { logs, ...read } = await readRangeFast(pool, range, logsWanted(chain, datasets), signal);
  decoder.add(logs, read.blocks.values());
  return { ...read, logCount: logs.length, weight: weighLogs(logs), lacking: new Map(), batch: decoder.batch() };
}

export async function commitRead(
  options: BackfillOptions,
  span: BackfillRange,
  read: DecodedRange,
  signal: AbortSignal,
) {
  const { chain, metrics, owner, kind, isUnsettled = false } = options;
  const started = options.clock.now();
  // A dataset that could not be read again keeps its rows.
  const datasets =
    kind === 'replace'
      ? withoutFailures(wholeDatasets({ chain, datasets: span.datasets }, read), read.batch.failures)
      : span.datasets;
  const batch = batchOf(read.batch, datasets);
  const rows = await untilItSucceeds(
    options,
    read.range,
    signal,
    () => commitRange(options, { read, batch, datasets, owner, kind, isUnsettled }),
    (error) => isFinal(error) || error instanceof ReorgedWhileReadingError,
  );
  read.batch.release();
  metrics.commitSeconds.observe({ chain: chain.key, kind: 'backfill' }, (options.clock.now() - started) / 1000);
  metrics.blocks.inc({ chain: chain.key, kind: 'backfill' }, rangeSize(read.range));
  metrics.logs.inc({ chain: chain.key, kind: 'backfill' }, read.logCount);
  for (const [dataset, count] of rows) metrics.rows.inc({ chain: chain.key, dataset }, count);
}
