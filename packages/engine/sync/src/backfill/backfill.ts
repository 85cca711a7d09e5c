/** Reserves nothing: a chunk goes to the process that claims it. */
import { type BlockRange, intersectRanges, mergeRanges, rangeSize, subtractRanges } from '@chainstead/core';
import { listHeldRanges } from '../coverage/claims.ts';
import type { CoveredRange } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { type BlockPart, deepestPart } from '../dataset/whole-block.ts';
import { UnavailableBlocksError } from '../errors.ts';
import { DatasetFailedError, type DecodeFailure, recordDatasetFailures } from '../read/dataset-failures.ts';
import type { DecodedRange } from '../read/read-range.ts';
import { createRereads } from '../read/rereads.ts';
import { underCommitLock } from '../rows/commit-retry.ts';
import {
  type BackfillOptions,
  type BackfillProgress,
  type GuardedWork,
  openRangeGuard,
  type RangeGuard,
} from './backfill-options.ts';
import { type BackfillRange, deepestPartOf, inOrder, type Planned, planRanges } from './backfill-ranges.ts';
import { CHUNKS_IN_FLIGHT, createChunkPlan, createChunkWork } from './chunk-work.ts';
import { untilItSucceeds } from './retry-range.ts';

const CLAIM_WAIT_MS = 1_000;
const LATE_WAIT_MS = 100;

export async function backfill(
  settings: BackfillOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const options = { ...settings, rereads: createRereads(settings.clock) };
  const spans = await planRanges(options, ranges);
  const guard = await openRangeGuard(options);
  const run = createRun(options, spans, guard, signal);
  try {
    await dealSuspects(run, spans, guard);
    await (options.kind === 'add' ? dealOpen(run, options, ranges) : dealPlanned(run, spans));
  } catch (error) {
    run.hand.fail(error);
  }
  await run.hand.emptied();
  run.stop.throwIfAborted();
  return run.progress();
}

type Run = ReturnType<typeof createRun>;

async function dealSuspects(run: Run, spans: readonly BackfillRange[], guard: RangeGuard): Promise<void> {
  for (const span of spans)
    for (const range of intersectRanges([span.range], guard.suspects)) {
      await run.hand.room();
      if (run.stop.aborted || run.hand.hasFailed()) return;
      run.begin({ ...span, range });
    }
  await run.hand.emptied();
  await guard.acquit();
}

async function dealOpen(run: Run, options: BackfillOptions, ranges: readonly BlockRange[]): Promise<void> {
  const { hand, stop } = run;
  const all = {
    from: Math.min(...ranges.map((range) => range.from)),
    to: Math.max(...ranges.map(({ to }) => to)),
  };
  while (!hand.hasFailed()) {
    await hand.room();
    const { next, left } = await untilItSucceeds(options, all, stop, () =>
      readOpenWork(options, ranges, run.own()),
    );
    run.countLeft(left);
    if (next !== null) run.begin(next);
    else if (left === 0) return;
    else if (!(await hand.nextEnd())) await options.clock.sleep(CLAIM_WAIT_MS, stop);
    // Free chunks that can't be claimed would cause a busy loop.
    if (run.isLate()) await options.clock.sleep(LATE_WAIT_MS, stop);
  }
}

/** Redone blocks stay covered, so coverage can't show progress. */
async function dealPlanned(run: Run, spans: readonly BackfillRange[]): Promise<void> {
  for (const span of spans)
    for (let left: BlockRange | undefined = span.range; left !== undefined; ) {
      await run.hand.room();
      if (run.stop.aborted || run.hand.hasFailed()) return;
      const range: BlockRange = run.firstChunk({ ...span, range: left });
      run.begin({ ...span, range });
      [left] = subtractRanges([left], [range]);
    }
}

function createRun(
  options: BackfillOptions,
  spans: readonly BackfillRange[],
  guard: RangeGuard,
  signal: AbortSignal,
) {
  const hand = createHand(() => (guard.suspects.length > 0 ? 1 : CHUNKS_IN_FLIGHT));
  const plan = createChunkPlan(options);
  const stop = AbortSignal.any([signal, options.owner.lost]);
  const lacking = createLackingRecord(options.chain);
  const total = spans.reduce((sum, span) => sum + rangeSize(span.range), 0);
  const state = { done: 0, logs: 0, lateClaims: 0 };
  const progress = (): BackfillProgress => ({
    ...{ done: state.done, total, logs: state.logs },
    unavailable: lacking.first(),
  });
  const advance = (range: BlockRange, logs: number): void => {
    if (options.kind === 'replace') state.done += rangeSize(range);
    state.logs += logs;
    options.onProgress?.(progress());
  };
  const work = createChunkWork(options, plan, stop, {
    isPointless: lacking.isPointless,
    isSuspect: () => guard.suspects.length > 0,
    skipped: (range) => advance(range, 0),
    claimed() {
      state.lateClaims += 1;
    },
    read(read, datasets) {
      state.lateClaims = 0;
      lacking.note(read, datasets);
    },
    committed: advance,
  });
  const guarded = (span: BackfillRange): GuardedWork => ({
    reads: deepestPartOf(options, span.datasets),
    perform: (part, hold) => work({ ...span, range: part }, hold),
    async leaveOut(block, error) {
      lacking.leaveOut(await leaveOutBlock(options, span, block, error));
      advance({ from: block, to: block }, 0);
    },
  });

  return {
    hand,
    stop,
    progress,
    firstChunk: plan.first,
    begin: (span: BackfillRange): void => hand.begin(span.range, () => guard.run(span.range, guarded(span))),
    own: (): OwnWork => ({
      ...{
        inHand: hand.ranges(),
        visited: lacking.visited(),
        lacksTraces: lacking.hasLacked('internalTransactions'),
      },
      ...{ isPointless: lacking.isPointless, firstChunk: plan.first },
    }),
    countLeft(blocks: number): void {
      if (total - blocks <= state.done) return;
      state.done = total - blocks;
      options.onProgress?.(progress());
    },
    isLate(): boolean {
      const isLate = state.lateClaims >= CHUNKS_IN_FLIGHT;
      if (isLate) state.lateClaims = 0;
      return isLate;
    },
  };
}

/** A block that was read before keeps its rows. @returns the gap of each dataset */
async function leaveOutBlock(
  { chain, database, kind }: BackfillOptions,
  { datasets }: BackfillRange,
  block: number,
  error: unknown,
): Promise<readonly DecodeFailure[]> {
  const failures = datasets.map((dataset) => ({ dataset, block, error }));
  if (kind === 'add')
    await underCommitLock(database, chain, (transaction) =>
      recordDatasetFailures(transaction, chain.id, failures),
    );
  return failures;
}

function createHand(size: () => number) {
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
      while (chunks.size >= size()) await Promise.race(chunks.values());
    },
    async nextEnd(): Promise<boolean> {
      const isOne = chunks.size > 0;
      if (isOne) await Promise.race(chunks.values());
      return isOne;
    },
    fail,
    hasFailed: (): boolean => failure !== null,
    /** @throws the error of the first failed chunk */
    async emptied(): Promise<void> {
      await Promise.all(chunks.values());
      if (failure !== null) throw failure.error;
    },
  };
}

function createLackingRecord(chain: BackfillOptions['chain']) {
  const unsupported = new Set<BlockPart>();
  const lacked = new Set<BlockPart>();
  const visited = new Map<string, BlockRange[]>();
  let first: BackfillProgress['unavailable'] = null;
  const visit = (name: string, ranges: readonly BlockRange[]): void => {
    visited.set(name, mergeRanges([...(visited.get(name) ?? []), ...ranges]));
  };
  const leaveOut = (failures: readonly DecodeFailure[]): void => {
    const [failure] = failures;
    if (failure !== undefined) first ??= new DatasetFailedError(chain, failure);
    for (const [{ name }, ofDataset] of Map.groupBy(failures, ({ dataset }) => dataset))
      visit(
        name,
        ofDataset.map(({ block }) => ({ from: block, to: block })),
      );
  };
  return {
    leaveOut,
    note: ({ lacking, range, batch: { failures } }: DecodedRange, datasets: readonly Dataset[]): void => {
      leaveOut(failures);
      for (const [part, { isUnsupported, reason, block }] of lacking) {
        if (isUnsupported) unsupported.add(part);
        lacked.add(part);
        first ??= new UnavailableBlocksError({ chain: chain.key, block, part, reason });
      }
      if (lacking.size > 0) for (const { name } of datasets) visit(name, [range]);
    },
    /** Tried once; stay gaps. */
    visited: (): CoveredRange[] =>
      [...visited].flatMap(([dataset, ranges]) => ranges.map((range) => ({ dataset, range }))),
    isPointless: ({ datasets }: Pick<BackfillRange, 'datasets'>): boolean =>
      datasets.every((dataset) => unsupported.has(deepestPart(dataset, chain))),
    hasLacked: (part: BlockPart): boolean => lacked.has(part),
    first: (): BackfillProgress['unavailable'] => first,
  };
}

interface OwnWork {
  readonly inHand: readonly BlockRange[];
  /** Could not be covered: not read twice. */
  readonly visited: readonly CoveredRange[];
  isPointless(span: BackfillRange): boolean;
  /** Nodes failed to trace a block. */
  readonly lacksTraces: boolean;
  /** The chunk of free blocks to read first. */
  firstChunk(span: BackfillRange): BlockRange;
}

/** `next`: null if all is claimed. `left`: blocks not covered, once per way they are read. */
async function readOpenWork(options: Planned, ranges: readonly BlockRange[], own: OwnWork) {
  // Claims before coverage: the blocks of a claim that ends in between show as covered.
  const held = [...(await listHeldRanges(options.database, options.chain.id)), ...own.inHand];
  const planned = own.lacksTraces ? { ...options, readsTracesApart: true } : options;
  const open = (await planRanges(planned, ranges, own.visited)).filter((span) => !own.isPointless(span));
  return {
    next: firstFree(options, open, held, own),
    left: open.reduce((sum, { range }) => sum + rangeSize(range), 0),
  };
}

function firstFree(
  options: Planned,
  open: readonly BackfillRange[],
  held: readonly BlockRange[],
  { firstChunk }: OwnWork,
): BackfillRange | null {
  for (const span of open) {
    const free = subtractRanges([span.range], held).map((range) => ({ range }));
    const [first] = inOrder(options, free);
    if (first === undefined) continue;
    return { ...span, range: firstChunk({ ...span, range: first.range }) };
  }
  return null;
}
