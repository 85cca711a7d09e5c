/**
 * Fills history: many chunks in flight, newest first, each claimed, read, decoded and committed on its own. What is
 * covered is written down with the rows, so that it resumes at any point with no gap and no overlap.
 */
import type { ProofPolicy } from '@chainstead/chains';
import { type BlockRange, type Clock, type Logger, rangeSize } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import PQueue from 'p-queue';
import { chunksOf, isReadWhole, notDone, planStretches, type Stretch } from './backfill-stretches.ts';
import { type ChunkSizing, createChunkSizing } from './chunk-size.ts';
import type { ClaimOwner } from './claims.ts';
import type { CommitDependencies } from './commit-followed.ts';
import { commitRange } from './commit-range.ts';
import type { Dataset } from './dataset.ts';
import { batchOf, createBatchDecoder } from './decoded-batch.ts';
import { ChainMovedError, UnavailableBlocksError } from './errors.ts';
import type { KeepSettings } from './keep-settings.ts';
import { type DecodedRange, logsWanted, readRangeFast, readRangeProven, wholeDatasets } from './read-range.ts';
import { releasing } from './releasing-task.ts';
import { FAILED, halvesOf, isFinal, once, untilItSucceeds } from './retry-range.ts';
import type { SyncMetrics } from './sync-metrics.ts';
import { type BlockPart, deepestPart, partsOf } from './whole-block.ts';

export interface BackfillOptions extends CommitDependencies {
  readonly pool: UpstreamPool;
  readonly owner: ClaimOwner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  readonly order: 'newest-first' | 'oldest-first';
  /** `receipts` reads whole blocks and proves them before they are served; `none` takes filtered logs first. */
  readonly proof: 'none' | 'receipts';
  readonly policy: ProofPolicy;
  /** What is older is not read for datasets that drop it. @default all is kept */
  readonly keep?: KeepSettings | undefined;
  /** `replace` redoes what is covered already (reindex). */
  readonly kind: 'add' | 'replace';
  onProgress?(progress: BackfillProgress): void;
}

export interface BackfillProgress {
  /** Blocks done since the start of this call, and in all. */
  readonly done: number;
  readonly total: number;
  readonly logs: number;
  /** What no upstream could give of blocks, which the datasets that read it lack from now on; null: nothing. */
  readonly unavailable: UnavailableBlocksError | null;
}

/**
 * Chunks being copied at once. One COPY keeps one core of the database busy; measured on two cores, two load 1.5 times as
 * much as one, and three no more than two.
 */
const COMMITS_IN_FLIGHT = 2;
/** Chunks being read at once. */
const CHUNKS_IN_FLIGHT = 4;
/**
 * Logs that a chunk should hold: with the chunks in flight this bounds memory. The more rows are sorted together, the less
 * the database works for each; with 10,000 instead of 6,000 it is a few percent less, and 60 MB more.
 */
const LOGS_PER_CHUNK = 6_000;
const FAST_CHUNK: { blocksFirst: number; blocksMax: number } = { blocksFirst: 64, blocksMax: 20_000 };
/** Whole blocks are heavy: a proven chunk ends at so many blocks. */
const PROVEN_CHUNK: { blocksFirst: number; blocksMax: number } = { blocksFirst: 8, blocksMax: 200 };
/** Of each chunk; with the chunks, as many as an upstream is asked at once: with fewer, 50 ms to the node are half of the time. */
const PROVEN_READS_IN_FLIGHT = 6;
/** Between two looks at a range that another process holds. */
const CLAIM_WAIT_MS = 1_000;

/** Covers every range, then resolves. A chunk that fails is tried again for as long as the signal allows. */
export async function backfill(
  options: BackfillOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const stretches = await planStretches(options, ranges);
  const run = createRun(options, stretches, signal);
  for (const stretch of stretches) await run.addStretch(stretch);
  await run.settled();
  return run.progress();
}

/** The running backfill: a queue of reads, and one of commits behind it. */
function createRun(options: BackfillOptions, stretches: readonly Stretch[], signal: AbortSignal) {
  const reads = new PQueue({ concurrency: CHUNKS_IN_FLIGHT });
  const commits = new PQueue({ concurrency: COMMITS_IN_FLIGHT });
  const sizing = {
    fast: createChunkSizing({ logsPerChunk: LOGS_PER_CHUNK, ...FAST_CHUNK }),
    proven: createChunkSizing({ logsPerChunk: LOGS_PER_CHUNK, ...PROVEN_CHUNK }),
  };
  const sizingOf = ({ datasets }: Stretch): ChunkSizing => sizing[isReadWhole(options, datasets) ? 'proven' : 'fast'];
  const total = stretches.reduce((sum, stretch) => sum + rangeSize(stretch.range), 0);
  const state = { done: 0, logs: 0, failure: undefined as unknown };
  const lacking = createLackingRecord(options.chain);
  const progress = (): BackfillProgress => ({
    done: state.done,
    total,
    logs: state.logs,
    unavailable: lacking.first(),
  });
  const stop = AbortSignal.any([signal, options.owner.lost]);

  const work = async (stretch: Stretch, range: BlockRange): Promise<void> => {
    if (lacking.isPointless(stretch.datasets)) return advance(rangeSize(range), 0);
    const attempt = (): Promise<DecodedRange | null> => readClaimed(options, stretch, range, sizingOf(stretch), stop);
    const read = await (rangeSize(range) > 1 ? once : untilItSucceeds)(options, range, stop, attempt);
    if (read === FAILED) {
      for (const half of halvesOf(options.order, range)) await work(stretch, half);
      return;
    }
    if (read === null) return workAround(stretch, range);
    // A read counts as in flight until it is committed: that bounds what is held in memory.
    const { logCount } = read;
    lacking.note(read);
    await commits.add(releasing(read, (one) => commitRead(options, stretch, one, stop)));
    advance(rangeSize(range), logCount);
  };

  /** What another process leaves of a range, of which it holds a part or has covered one since it was planned. */
  const workAround = async (stretch: Stretch, range: BlockRange): Promise<void> => {
    await options.clock.sleep(CLAIM_WAIT_MS, stop);
    const left = await untilItSucceeds(options, range, stop, () => notDone(options, stretch, range));
    advance(rangeSize(range) - left.reduce((sum, part) => sum + rangeSize(part.range), 0), 0);
    for (const part of left) await work(part, part.range);
  };

  const advance = (blocks: number, logs: number): void => {
    state.done += blocks;
    state.logs += logs;
    options.onProgress?.(progress());
  };

  return {
    progress,
    addStretch: async (stretch: Stretch): Promise<void> => {
      for (const range of chunksOf(options, stretch.range, sizingOf(stretch))) {
        await reads.onSizeLessThan(CHUNKS_IN_FLIGHT);
        if (stop.aborted || state.failure !== undefined) return;
        reads
          .add(() => work(stretch, range))
          .catch((error: unknown) => {
            state.failure ??= error;
          });
      }
    },
    settled: async (): Promise<void> => {
      await reads.onIdle();
      await commits.onIdle();
      if (state.failure !== undefined) throw state.failure;
      stop.throwIfAborted();
    },
  };
}

/** What no upstream could give so far. */
function createLackingRecord(chain: BackfillOptions['chain']) {
  /** Parts that no upstream serves at all: nothing more is read for them. */
  const unsupported = new Set<BlockPart>();
  let first: UnavailableBlocksError | null = null;
  return {
    note: ({ lacking }: DecodedRange): void => {
      for (const [part, { isUnsupported, reason, block }] of lacking) {
        if (isUnsupported) unsupported.add(part);
        first ??= new UnavailableBlocksError({ chain: chain.key, block, part, reason });
      }
    },
    isPointless: (datasets: readonly Dataset[]): boolean =>
      datasets.every((dataset) => unsupported.has(deepestPart(dataset, chain))),
    first: (): UnavailableBlocksError | null => first,
  };
}

/** Null when another process holds a part of the range, or has covered one since this work was planned. */
async function readClaimed(
  options: BackfillOptions,
  stretch: Stretch,
  range: BlockRange,
  sizing: ChunkSizing,
  signal: AbortSignal,
): Promise<DecodedRange | null> {
  const { chain, owner, kind } = options;
  if (!(await owner.claim(chain.id, range, kind === 'replace' ? 'reindex' : 'backfill'))) {
    options.logger.info(
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

async function commitRead(
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
  metrics.commitSeconds.observe({ chain: chain.key, kind: 'backfill' }, (options.clock.now() - started) / 1000);
  metrics.blocks.inc({ chain: chain.key, kind: 'backfill' }, rangeSize(read.range));
  metrics.logs.inc({ chain: chain.key, kind: 'backfill' }, read.logCount);
  for (const [dataset, count] of rows) metrics.rows.inc({ chain: chain.key, dataset }, count);
}
