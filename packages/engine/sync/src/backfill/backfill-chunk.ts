import { type BlockRange, rangeSize } from '@chainstead/core';
import type { ChosenSource } from '@chainstead/sources';
import { commitRange } from '../commit/commit-range.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { deepestPart, readingOf } from '../dataset/whole-block.ts';
import { ReorgedWhileReadingError } from '../errors.ts';
import type { ChunkSizing } from '../read/chunk-size.ts';
import { withoutFailures } from '../read/dataset-failures.ts';
import { batchOf, createBatchDecoder } from '../read/decoded-batch.ts';
import { weighLogs } from '../read/large-blocks.ts';
import { linkRange, requireUpstreams } from '../read/link-range.ts';
import {
  type DecodedRange,
  logsWanted,
  readRangeFast,
  readRangeProven,
  readSourceParts,
  wholeDatasets,
} from '../read/read-range.ts';
import { readSourceLogs } from '../read/read-source-logs.ts';
import type { BackfillOptions } from './backfill-options.ts';
import { type BackfillRange, isReadWhole, notDone } from './backfill-ranges.ts';
import { isFinal, untilItSucceeds } from './retry-range.ts';

/** With fewer reads than an upstream's concurrency times the chunks, round trips dominate. */
const PROVEN_READS_IN_FLIGHT = 6;
export const DATA_WEIGHT_MAX = 12_000;
/** Logs, about, of one commit from a source. */
export const PART_WEIGHT = 6_000;

/** All that reading and decoding need: nothing is claimed or written. */
export type ReadOptions = Pick<
  BackfillOptions,
  'pool' | 'chain' | 'rowsAtOnce' | 'proof' | 'policy' | 'logger' | 'recoverSigners' | 'rereads'
>;

/** Null if another process holds or has covered part of the range. */
export async function readClaimed(
  options: BackfillOptions,
  span: BackfillRange,
  range: BlockRange,
  sizing: ChunkSizing,
  signal: AbortSignal,
): Promise<DecodedRange | null> {
  if (!(await claimOpen(options, span, range))) return null;
  try {
    const read = await readDecoded(options, span.datasets, range, signal, datasetsToProve(options, span));
    sizing.seen(rangeSize(range), read.weight);
    // Blocks that a reorg may replace must have the hashes of followed ones.
    if (options.isUnsettled === true) return read;
    const linked = isReadWhole(options, span.datasets)
      ? linkRange(options, read, signal)
      : requireUpstreams(options, { range, upstreams: upstreamsOf(read) }, signal).then(() => read);
    return await linked.catch((error: unknown) => {
      read.batch.release();
      throw error;
    });
  } catch (error) {
    await options.owner.release(options.chain.id, range);
    throw error;
  }
}

function upstreamsOf({ levels }: DecodedRange): string[] {
  return (levels.logs ?? []).flatMap(({ upstream }) => upstream ?? []);
}

/** Parts from the start of the range, each to be committed before the next. Nothing if another process holds blocks of it. */
export async function* readClaimedParts(
  options: BackfillOptions,
  span: BackfillRange,
  chosen: ChosenSource,
  sizing: Pick<ChunkSizing, 'seen'>,
  signal: AbortSignal,
): AsyncGenerator<DecodedRange> {
  const { owner, chain } = options;
  const { range } = chosen;
  const claim = (): Promise<boolean> => claimOpen(options, span, range);
  if (!(await untilItSucceeds(options, range, signal, claim))) return;
  const reading = new AbortController();
  const stop = AbortSignal.any([signal, reading.signal]);
  let uncommitted = range.from;
  const parts = readDecodedParts(options, span.datasets, chosen, stop, datasetsToProve(options, span));
  try {
    for await (const read of oneAhead(parts, reading)) {
      sizing.seen(rangeSize(read.range), read.weight);
      yield isReadWhole(options, span.datasets) ? await linkRange(options, read, signal, true) : read;
      uncommitted = read.range.to + 1;
    }
  } finally {
    const left = { from: uncommitted, to: range.to };
    if (left.from <= left.to) await untilItSucceeds(options, left, signal, () => owner.release(chain.id, left));
  }
}

/** Datasets of logs that whole blocks of the span prove too: reading them again would double the calls. */
function datasetsToProve(options: BackfillOptions, { datasets }: BackfillRange): readonly Dataset[] {
  const { chain, kind, proof, proveRead } = options;
  const isReadAgain = proveRead !== undefined && kind === 'add' && proof === 'none';
  if (!isReadAgain || !isReadWhole(options, datasets)) return [];
  return options.datasets.filter((dataset) => deepestPart(dataset, chain) === 'logs');
}

/** Reads the next part while the caller commits one. */
async function* oneAhead(
  parts: AsyncGenerator<DecodedRange>,
  reading: AbortController,
): AsyncGenerator<DecodedRange> {
  let next = parts.next();
  try {
    for (let part = await next; part.done !== true; part = await next) {
      next = parts.next();
      // Thrown in its turn, by `await next`.
      next.catch(() => undefined);
      yield part.value;
    }
  } finally {
    // The commit failed: its error is thrown. That of the read ahead is only logged, with the source.
    reading.abort(new Error('The part before could not be committed'));
    const unused = await next.catch(() => null);
    if (unused !== null && unused.done !== true) unused.value.batch.release();
    await parts.return(undefined);
  }
}

/** False if another process holds or has covered part of the range. */
async function claimOpen(options: BackfillOptions, span: BackfillRange, range: BlockRange): Promise<boolean> {
  const { chain, owner, kind, purpose = 'backfill' } = options;
  if (!(await owner.claim(chain.id, range, kind === 'replace' ? 'reindex' : purpose))) {
    options.logger[kind === 'replace' ? 'info' : 'debug'](
      { chain: chain.key, block_range: `${range.from}-${range.to}` },
      'Range is claimed by another process; it is tried again later',
    );
    return false;
  }
  try {
    const [open] = await notDone(options, span, range);
    if (
      open !== undefined &&
      rangeSize(open.range) === rangeSize(range) &&
      open.datasets.length === span.datasets.length
    )
      return true;
  } catch (error) {
    await owner.release(chain.id, range);
    throw error;
  }
  await owner.release(chain.id, range);
  return false;
}

export async function* readDecodedParts(
  options: ReadOptions,
  datasets: readonly Dataset[],
  chosen: ChosenSource,
  signal: AbortSignal,
  alsoDecoded: readonly Dataset[] = [],
): AsyncGenerator<DecodedRange> {
  const { chain, rowsAtOnce } = options;
  const newDecoder = () => createBatchDecoder(chain, [...datasets, ...alsoDecoded], rowsAtOnce);
  const unit = { unitWeight: PART_WEIGHT };
  if (isReadWhole(options, datasets)) {
    const reading = { ...options, ...unit, ...readingOf(datasets, chain), depth: 1, signal };
    yield* readSourceParts(reading, chosen, newDecoder);
    return;
  }
  for await (const { logs, ...read } of readSourceLogs(
    { ...options, ...unit },
    chosen,
    logsWanted(chain, datasets),
    signal,
  )) {
    const decoder = newDecoder();
    decoder.add(logs, read.blocks.values());
    yield { ...read, logCount: logs.length, weight: weighLogs(logs), lacking: new Map(), batch: decoder.batch() };
  }
}

export async function readDecoded(
  options: ReadOptions,
  datasets: readonly Dataset[],
  range: BlockRange,
  signal: AbortSignal,
  alsoDecoded: readonly Dataset[] = [],
): Promise<DecodedRange> {
  const { pool, chain, rowsAtOnce } = options;
  const decoder = createBatchDecoder(chain, [...datasets, ...alsoDecoded], rowsAtOnce);
  if (isReadWhole(options, datasets)) {
    const whole = readingOf(datasets, chain);
    const leavesOut = !whole.parts.has('logs');
    return readRangeProven(
      {
        ...options,
        ...whole,
        leavesOut,
        leavesFileGaps: true,
        depth: PROVEN_READS_IN_FLIGHT,
        weightMax: DATA_WEIGHT_MAX,
        signal,
      },
      range,
      decoder,
    );
  }
  const { logs, ...read } = await readRangeFast(pool, range, logsWanted(chain, datasets), signal);
  decoder.add(logs, read.blocks.values());
  return { ...read, logCount: logs.length, weight: weighLogs(logs), lacking: new Map(), batch: decoder.batch() };
}

/** Releases the rows, at a failure too. */
export async function commitRead(
  options: BackfillOptions,
  span: BackfillRange,
  read: DecodedRange,
  signal: AbortSignal,
): Promise<void> {
  try {
    await commitRows(options, span, read, signal);
    const datasets = datasetsToProve(options, span);
    if (datasets.length > 0) await options.proveRead?.({ ...options, datasets }, read, signal);
  } finally {
    read.batch.release();
  }
}

async function commitRows(
  options: BackfillOptions,
  span: BackfillRange,
  read: DecodedRange,
  signal: AbortSignal,
): Promise<void> {
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
  metrics.commitSeconds.observe({ chain: chain.key, kind: 'backfill' }, (options.clock.now() - started) / 1000);
  metrics.blocks.inc({ chain: chain.key, kind: 'backfill' }, rangeSize(read.range));
  metrics.logs.inc({ chain: chain.key, kind: 'backfill' }, read.logCount);
  for (const [dataset, count] of rows) metrics.rows.inc({ chain: chain.key, dataset }, count);
}
