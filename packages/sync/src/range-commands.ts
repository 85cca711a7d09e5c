/**
 * What the command line does to ranges: backfill, reindex, verify. Each claims what it works on, so that it can run
 * beside an ingest process; each can be run any number of times with the same result.
 */
import type { Chain, ProofPolicy } from '@chainstead/chains';
import {
  type BlockRange,
  type Clock,
  intersectRanges,
  type Logger,
  mergeRanges,
  rangeSize,
  subtractRanges,
} from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import { type BackfillProgress, backfill } from './backfill.ts';
import { readChainState } from './checkpoint.ts';
import { createClaimOwner } from './claims.ts';
import { listCoverage } from './coverage.ts';
import type { Dataset } from './dataset.ts';
import { datasetsOf } from './datasets-of.ts';
import { registerDerivedStates } from './derived/derived-record.ts';
import { RangeClaimedError, RangeNotFinalError } from './errors.ts';
import { isDroppable, type KeepSettings } from './keep-settings.ts';
import { belowKept, type CoveredRange, readKeptFrom } from './kept-from.ts';
import { createKnownContracts } from './known-contracts.ts';
import type { Repair } from './repaired-blocks.ts';
import { readSettledHeight } from './settled-height.ts';
import type { SyncMetrics } from './sync-metrics.ts';
import { verifyRange } from './verify-range.ts';
import { deepestPart } from './whole-block.ts';

export interface RangeCommandOptions {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
  /** Of these, the ones that are kept for this chain. */
  readonly datasets: readonly Dataset[];
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  readonly clock: Clock;
  readonly proof: ProofPolicy;
  readonly backfillProof: 'none' | 'receipts';
  /** Who recovers senders from signatures. @default this process */
  readonly recoverSigners?: RecoverSigners | undefined;
  /** What is older is left alone for datasets that drop it. @default all is kept */
  readonly keep?: KeepSettings | undefined;
  /** Told when the ranges of a backfill are found to be allowed, before anything is read. */
  onBegin?(): void;
  onProgress?(progress: BackfillProgress): void;
}

export interface VerifyReport {
  /** Blocks by the level that they reached, once for each way in which datasets read them. */
  readonly levels: Readonly<Record<string, number>>;
  readonly repairs: readonly Repair[];
  /** Asked for but not covered, hence not verified. */
  readonly uncovered: readonly BlockRange[];
}

const VERIFY_STRETCH_BLOCKS = 64;
const VERIFY_READS_IN_FLIGHT = 12;

/**
 * Covers the ranges with all datasets. @throws RangeNotFinalError when a range reaches into what may be reorganised;
 * UnavailableBlocksError, after all else is done, when no upstream has the traces or transactions of a block.
 */
export async function backfillRanges(
  options: RangeCommandOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<BackfillProgress> {
  await requireFinal(options, ranges);
  await tellOld(options, ranges);
  options.onBegin?.();
  const done = await withOwner(options, (owner) =>
    backfill(
      {
        ...options,
        datasets: datasetsOf(options.chain, options.datasets),
        owner,
        knownContracts: createKnownContracts(),
        order: 'newest-first',
        proof: options.backfillProof,
        policy: options.proof,
        kind: 'add',
      },
      mergeRanges(ranges),
      signal,
    ),
  );
  return requireAll(done);
}

/** What could be read is covered by now; what could not stays a gap. */
function requireAll(done: BackfillProgress): BackfillProgress {
  if (done.unavailable !== null) throw done.unavailable;
  return done;
}

/**
 * Reads and writes the ranges anew, for the given datasets. What was proven is redone proven, the rest as the backfill
 * would: the level of a range never falls by being redone. @throws as {@link backfillRanges}
 */
export async function reindexRanges(
  options: RangeCommandOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<BackfillProgress> {
  await requireFinal(options, ranges);
  await tellOld(options, ranges);
  const { chain, database } = options;
  const fromLogs = datasetsOf(chain, options.datasets).filter((one) => deepestPart(one, chain) === 'logs');
  const names = new Set(fromLogs.map(({ name }) => name));
  const coverage = (await listCoverage(database, chain.id)).filter(({ dataset }) => names.has(dataset));
  const fast = coverage.filter((one) => one.proof === 'none').map((one) => one.range);
  const redoProven = subtractRanges(
    intersectRanges(
      ranges,
      coverage.map((one) => one.range),
    ),
    fast,
  );
  const redoFast = subtractRanges(ranges, redoProven);
  const total = [...redoFast, ...redoProven].reduce((sum, range) => sum + rangeSize(range), 0);
  const done = await withOwner(options, async (owner) => {
    let before: BackfillProgress = { done: 0, total, logs: 0, unavailable: null };
    for (const [part, proof] of [
      [redoFast, options.backfillProof],
      [redoProven, 'receipts'],
    ] as const) {
      const base = before;
      const joined = (own: BackfillProgress): BackfillProgress => ({
        done: base.done + own.done,
        total,
        logs: base.logs + own.logs,
        unavailable: base.unavailable ?? own.unavailable,
      });
      const result = await backfill(
        {
          ...options,
          datasets: datasetsOf(options.chain, options.datasets),
          owner,
          knownContracts: createKnownContracts(),
          order: 'oldest-first',
          proof,
          policy: options.proof,
          kind: 'replace',
          onProgress: (own) => options.onProgress?.(joined(own)),
        },
        part,
        signal,
      );
      before = joined(result);
    }
    return before;
  });
  return requireAll(done);
}

/** Proves what is covered of the ranges, repairs what differs, and raises the coverage. */
export async function verifyRanges(
  options: RangeCommandOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<VerifyReport> {
  const { chain, database } = options;
  const wanted = mergeRanges(ranges);
  const coverage = await listCoverage(database, chain.id);
  const keptFrom = await readKeptFrom(database, options);
  const works = verifications(options, wanted, coverage, keptFrom);
  const total = works.flatMap(({ covered }) => covered).reduce((sum, range) => sum + rangeSize(range), 0);
  const levels: Record<string, number> = {};
  const repairs: Repair[] = [];
  let done = 0;
  await withOwner(options, async (owner) => {
    for (const { datasets, range } of works.flatMap((one) => inStretches(one, keptFrom))) {
      if (!(await owner.claim(chain.id, range, 'verify')))
        throw new RangeClaimedError({ chain: chain.key, range, purpose: 'work' });
      const result = await verifyRange(
        { ...options, datasets, owner, policy: options.proof, knownContracts: createKnownContracts() },
        range,
        VERIFY_READS_IN_FLIGHT,
        signal,
      );
      for (const [level, blocks] of Object.entries(result.levels)) levels[level] = (levels[level] ?? 0) + blocks;
      repairs.push(...result.repairs);
      done += rangeSize(range);
      options.onProgress?.({ done, total, logs: 0, unavailable: null });
    }
  });
  return { levels, repairs, uncovered: mergeRanges(works.flatMap(({ covered }) => subtractRanges(wanted, covered))) };
}

/** What datasets that are read alike have covered. */
interface Verification {
  readonly datasets: readonly Dataset[];
  readonly covered: readonly BlockRange[];
}

/** Each way of reading on its own: where traces are missing, logs are verified all the same; and where old rows were dropped, those of the others are. */
function verifications(
  { chain, datasets }: RangeCommandOptions,
  wanted: readonly BlockRange[],
  coverage: readonly CoveredRange[],
  keptFrom: number,
): Verification[] {
  const alike = Map.groupBy(datasetsOf(chain, datasets), (dataset) => deepestPart(dataset, chain));
  return [...alike.values()].map((some) => {
    const left = some.every(isDroppable) ? coverage : [...coverage, ...belowKept(some, keptFrom)];
    return {
      datasets: some,
      covered: some.reduce<BlockRange[]>(
        (common, dataset) =>
          intersectRanges(
            common,
            left.filter((one) => one.dataset === dataset.name).map((one) => one.range),
          ),
        [...wanted],
      ),
    };
  });
}

/** None reaches over where rows are kept from: above it, all datasets of a stretch are verified. */
function inStretches({ datasets, covered }: Verification, keptFrom: number) {
  const stretches: { readonly datasets: readonly Dataset[]; readonly range: BlockRange }[] = [];
  const old = { from: 0, to: keptFrom - 1 };
  const parts = keptFrom === 0 ? covered : [...intersectRanges(covered, [old]), ...subtractRanges(covered, [old])];
  for (const { from: first, to: last } of parts)
    for (let from = first; from <= last; from += VERIFY_STRETCH_BLOCKS)
      stretches.push({ datasets, range: { from, to: Math.min(last, from + VERIFY_STRETCH_BLOCKS - 1) } });
  return stretches;
}

/** Blocks that can still be reorganised belong to the follower: no command may write them. */
async function requireFinal(
  { chain, pool, database }: RangeCommandOptions,
  ranges: readonly BlockRange[],
): Promise<void> {
  const state = await readChainState(database, chain.id);
  const settled = await readSettledHeight(pool, chain);
  const highestFinal =
    // Below the first followed block nothing is rolled back: a chain that stands still would leave it out for good.
    state === null ? settled : Math.max(state.firstFollowed - 1, Math.min(settled, state.checkpoint?.number ?? 0));
  const beyond = ranges.find((range) => range.to > highestFinal);
  if (beyond !== undefined) throw new RangeNotFinalError({ chain: chain.key, range: beyond, highestFinal });
}

/** What was asked for and is not read looks like done otherwise. */
async function tellOld(options: RangeCommandOptions, ranges: readonly BlockRange[]): Promise<void> {
  const { chain, database, datasets, logger } = options;
  const keptFrom = await readKeptFrom(database, options);
  const left = belowKept(datasetsOf(chain, datasets), keptFrom).map(({ dataset }) => dataset);
  if (left.length > 0 && ranges.some(({ from }) => from < keptFrom))
    logger.warn(
      { chain: chain.key, datasets: left, kept_from: keptFrom },
      'Older blocks than KEEP_BLOCKS and KEEP_SINCE keep are not read for these datasets',
    );
}

async function withOwner<T>(
  { chain, database, datasets }: RangeCommandOptions,
  work: (owner: Awaited<ReturnType<typeof createClaimOwner>>) => Promise<T>,
): Promise<T> {
  await registerDerivedStates(database, chain, datasetsOf(chain, datasets));
  const owner = await createClaimOwner(database);
  try {
    return await work(owner);
  } finally {
    await owner.close();
  }
}
