/**
 * Fills history: many chunks in flight, newest first, each claimed, read, decoded and committed on its own. What is
 * covered is written down with the rows, so that it resumes at any point with no gap and no overlap. Any number of
 * processes may fill the same ranges: each takes the next chunk that nobody holds.
 */
import type { ProofPolicy } from '@chainstead/chains';
import { type BlockRange, type Clock, type Logger, mergeRanges, rangeSize } from '@chainstead/core';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import PQueue from 'p-queue';
import { commitRead, readClaimed } from './backfill-chunk.ts';
import { chunksOf, isReadWhole, notDone, planStretches, type Stretch } from './backfill-stretches.ts';
import { type ChunkSizing, createChunkSizing } from './chunk-size.ts';
import type { ClaimOwner } from './claims.ts';
import type { CommitDependencies } from './commit-followed.ts';
import type { Dataset } from './dataset.ts';
import { UnavailableBlocksError } from './errors.ts';
import type { KeepSettings } from './keep-settings.ts';
import type { CoveredRange } from './kept-from.ts';
import { type OwnWork, readOpenWork } from './open-work.ts';
import type { DecodedRange } from './read-range.ts';
import { releasing } from './releasing-task.ts';
import { FAILED, halvesOf, once, untilItSucceeds } from './retry-range.ts';
import type { SyncMetrics } from './sync-metrics.ts';
import { type BlockPart, deepestPart } from './whole-block.ts';

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
  /** Who recovers senders from signatures. @default this process */
  readonly recoverSigners?: RecoverSigners | undefined;
  /** What is older is not read for datasets that drop it. @default all is kept */
  readonly keep?: KeepSettings | undefined;
  /** `replace` redoes what is covered already (reindex). */
  readonly kind: 'add' | 'replace';
  /** `help`: somebody else is filling the same history, and goes on when this one ends. @default 'backfill' */
  readonly purpose?: 'backfill' | 'help';
  onProgress?(progress: BackfillProgress): void;
}

export interface BackfillProgress {
  /** Blocks done since the start of this call, whichever process did them, and in all. */
  readonly done: number;
  readonly total: number;
  /** That this process read. */
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
/** Between two looks at a range that another process holds. */
const CLAIM_WAIT_MS = 1_000;
/** After some chunks in a row that others claimed first. */
const LATE_WAIT_MS = 100;

/** Covers every range, then resolves. A chunk that fails is tried again for as long as the signal allows. */
export async function backfill(
  options: BackfillOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const stretches = await planStretches(options, ranges);
  const run = createRun(options, stretches, signal);
  try {
    await (options.kind === 'add' ? dealOpen(run, options, ranges) : dealPlanned(run, options, stretches));
  } catch (error) {
    run.hand.fail(error);
  }
  await run.hand.emptied();
  run.stop.throwIfAborted();
  return run.progress();
}

type Run = ReturnType<typeof createRun>;

/** What is covered is written down: the next chunk is told from there, beside all who work on the same ranges. */
async function dealOpen(run: Run, options: BackfillOptions, ranges: readonly BlockRange[]): Promise<void> {
  const { hand, stop } = run;
  const all = { from: Math.min(...ranges.map((range) => range.from)), to: Math.max(...ranges.map(({ to }) => to)) };
  while (!hand.hasFailed()) {
    await hand.room();
    const { next, left } = await untilItSucceeds(options, all, stop, () => readOpenWork(options, ranges, run.own()));
    run.countLeft(left);
    if (next !== null) run.begin(next);
    else if (left === 0) return;
    else if (!(await hand.nextEnd())) await options.clock.sleep(CLAIM_WAIT_MS, stop);
    // Where a look shows free what no claim gets, time has to pass.
    if (run.isLate()) await options.clock.sleep(LATE_WAIT_MS, stop);
  }
}

/** What is redone is covered all the time: each chunk of the plan is gone through once. */
async function dealPlanned(run: Run, options: BackfillOptions, stretches: readonly Stretch[]): Promise<void> {
  for (const stretch of stretches)
    for (const range of chunksOf(options, stretch.range, run.sizingOf(stretch))) {
      await run.hand.room();
      if (run.stop.aborted || run.hand.hasFailed()) return;
      run.begin({ ...stretch, range });
    }
}

/** The running backfill: chunks in hand, and a queue of commits behind them. */
function createRun(options: BackfillOptions, stretches: readonly Stretch[], signal: AbortSignal) {
  const hand = createHand(CHUNKS_IN_FLIGHT);
  const commits = new PQueue({ concurrency: COMMITS_IN_FLIGHT });
  const sizingOf = createSizing(options);
  const stop = AbortSignal.any([signal, options.owner.lost]);
  const lacking = createLackingRecord(options.chain);
  const total = stretches.reduce((sum, stretch) => sum + rangeSize(stretch.range), 0);
  const state = { done: 0, logs: 0, lateClaims: 0 };
  const progress = (): BackfillProgress => {
    const { done, logs } = state;
    return { done, total, logs, unavailable: lacking.first() };
  };

  const work = async (stretch: Stretch, range: BlockRange): Promise<void> => {
    if (lacking.isPointless(stretch)) return advance(range, 0);
    const attempt = (): Promise<DecodedRange | null> => readClaimed(options, stretch, range, sizingOf(stretch), stop);
    const read = await (rangeSize(range) > 1 ? once : untilItSucceeds)(options, range, stop, attempt);
    if (read === FAILED) {
      for (const half of halvesOf(options.order, range)) await work(stretch, half);
      return;
    }
    if (read === null) return workAround(stretch, range);
    state.lateClaims = 0;
    // A read counts as in flight until it is committed: that bounds what is held in memory.
    const { logCount } = read;
    lacking.note(read, stretch.datasets);
    await commits.add(releasing(read, (one) => commitRead(options, stretch, one, stop)));
    advance(range, logCount);
  };

  /** What another process leaves of a range, of which it holds a part. What is to be added comes up again by itself. */
  const workAround = async (stretch: Stretch, range: BlockRange): Promise<void> => {
    if (options.kind === 'add') {
      state.lateClaims += 1;
      return;
    }
    await options.clock.sleep(CLAIM_WAIT_MS, stop);
    for (const part of await untilItSucceeds(options, range, stop, () => notDone(options, stretch, range)))
      await work(part, part.range);
  };

  /** What is added counts as done when it is seen to be covered, whoever did it. */
  const advance = (range: BlockRange, logs: number): void => {
    if (options.kind === 'replace') state.done += rangeSize(range);
    state.logs += logs;
    options.onProgress?.(progress());
  };

  return {
    hand,
    stop,
    sizingOf,
    progress,
    begin: (stretch: Stretch): void => hand.begin(stretch.range, () => work(stretch, stretch.range)),
    own: (): OwnWork => {
      const { isPointless } = lacking;
      return { inHand: hand.ranges(), visited: lacking.visited(), isPointless, sizingOf };
    },
    countLeft(blocks: number): void {
      if (total - blocks <= state.done) return;
      state.done = total - blocks;
      options.onProgress?.(progress());
    },
    /** Whether several claims in a row came too late. */
    isLate(): boolean {
      const isLate = state.lateClaims >= CHUNKS_IN_FLIGHT;
      if (isLate) state.lateClaims = 0;
      return isLate;
    },
  };
}

function createSizing(options: BackfillOptions): (stretch: Stretch) => ChunkSizing {
  const fast = createChunkSizing({ logsPerChunk: LOGS_PER_CHUNK, ...FAST_CHUNK });
  const proven = createChunkSizing({ logsPerChunk: LOGS_PER_CHUNK, ...PROVEN_CHUNK });
  return ({ datasets }) => (isReadWhole(options, datasets) ? proven : fast);
}

/** Chunks that are worked on, so many at a time. */
function createHand(size: number) {
  const chunks = new Map<BlockRange, Promise<void>>();
  let failure: { readonly error: unknown } | null = null;
  const fail = (error: unknown): void => {
    failure ??= { error };
  };
  return {
    begin(range: BlockRange, work: () => Promise<void>): void {
      const ended = work()
        .catch(fail)
        .finally(() => chunks.delete(range));
      chunks.set(range, ended);
    },
    ranges: (): BlockRange[] => [...chunks.keys()],
    async room(): Promise<void> {
      while (chunks.size >= size) await Promise.race(chunks.values());
    },
    /** Waits until one of them has ended. @returns false where there is none */
    async nextEnd(): Promise<boolean> {
      const isOne = chunks.size > 0;
      if (isOne) await Promise.race(chunks.values());
      return isOne;
    },
    fail,
    hasFailed: (): boolean => failure !== null,
    /** Waits for the end of all. @throws what the first one to fail threw */
    async emptied(): Promise<void> {
      await Promise.all(chunks.values());
      if (failure !== null) throw failure.error;
    },
  };
}

/** What no upstream could give so far. */
function createLackingRecord(chain: BackfillOptions['chain']) {
  /** Parts that no upstream serves at all: nothing more is read for them. */
  const unsupported = new Set<BlockPart>();
  const visited = new Map<string, BlockRange[]>();
  let first: UnavailableBlocksError | null = null;
  return {
    note: ({ lacking, range }: DecodedRange, datasets: readonly Dataset[]): void => {
      for (const [part, { isUnsupported, reason, block }] of lacking) {
        if (isUnsupported) unsupported.add(part);
        first ??= new UnavailableBlocksError({ chain: chain.key, block, part, reason });
      }
      if (lacking.size > 0)
        for (const { name } of datasets) visited.set(name, mergeRanges([...(visited.get(name) ?? []), range]));
    },
    /** Ranges of which something is lacking: gone through once, they stay gaps. */
    visited: (): CoveredRange[] =>
      [...visited].flatMap(([dataset, ranges]) => ranges.map((range) => ({ dataset, range }))),
    isPointless: ({ datasets }: Pick<Stretch, 'datasets'>): boolean =>
      datasets.every((dataset) => unsupported.has(deepestPart(dataset, chain))),
    first: (): UnavailableBlocksError | null => first,
  };
}
