/** Range commands claim their blocks: they can run next to an ingest process. Idempotent. */
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
import type { ProofLevel, RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { HistorySources } from '@chainstead/sources';
import { backfill } from '../backfill/backfill.ts';
import type { BackfillProgress, RangeJournal } from '../backfill/backfill-options.ts';
import { readChainState } from '../checkpoint.ts';
import { createClaimOwner } from '../coverage/claims.ts';
import { listCoverage } from '../coverage/coverage.ts';
import {
  type CoveredRange,
  isDroppable,
  notNeeded,
  type RetentionSettings,
  readRetainedFrom,
  readSettledHeight,
} from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { deepestPart } from '../dataset/whole-block.ts';
import { RangeClaimedError, RangeNotFinalError } from '../errors.ts';
import { registerProjections } from '../projections/projection-record.ts';
import { createKnownContracts } from '../rows/known-contracts.ts';
import type { SyncMetrics } from '../sync-metrics.ts';
import { type Repair, verifyRange } from '../verify/verify-range.ts';

export interface RangeCommandOptions {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  /** Read before nodes, in order. @default none */
  readonly sources?: HistorySources | undefined;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  readonly clock: Clock;
  readonly proof: ProofPolicy;
  readonly backfillProof: 'none' | 'receipts';
  readonly recoverSigners?: RecoverSigners | undefined;
  /** @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
  /** @default no work is quarantined */
  readonly journal?: RangeJournal;
  /** The ranges are accepted; no block is read yet. */
  onBegin?(): void;
  onProgress?(progress: BackfillProgress): void;
}

export interface VerifyReport {
  /** A block whose datasets are read in several ways counts once, by its weakest level. */
  readonly levels: Readonly<Record<string, number>>;
  readonly repairs: readonly Repair[];
  /** Requested but not covered, so not verified. */
  readonly uncovered: readonly BlockRange[];
}

const VERIFY_SPAN_BLOCKS = 64;
const VERIFY_READS_IN_FLIGHT = 12;

/** @throws RangeNotFinalError; UnavailableBlocksError after all others are done */
export async function backfillRanges(
  options: RangeCommandOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<BackfillProgress> {
  await requireFinal(options, ranges);
  await reportOld(options, ranges);
  options.onBegin?.();
  const done = await withOwner(options, (owner) =>
    backfill(
      {
        ...options,
        datasets: datasetsOf(options.chain, options.datasets),
        onProgress: (progress) => options.onProgress?.(inBlocks(progress, ranges)),
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
  return requireAll(inBlocks(done, ranges));
}

/** A block counts once, in however many ways its datasets are read. */
function inBlocks(progress: BackfillProgress, ranges: readonly BlockRange[]): BackfillProgress {
  const blocks = mergeRanges(ranges).reduce((sum, range) => sum + rangeSize(range), 0);
  const { done, total } = progress;
  return total <= blocks ? progress : { ...progress, done: Math.floor((blocks * done) / total), total: blocks };
}

/** @throws UnavailableBlocksError if blocks stay a gap; all others are covered */
function requireAll(done: BackfillProgress): BackfillProgress {
  if (done.unavailable !== null) throw done.unavailable;
  return done;
}

/** Proven ranges are proven again: no level falls. @throws as {@link backfillRanges} */
export async function reindexRanges(
  options: RangeCommandOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<BackfillProgress> {
  await requireFinal(options, ranges);
  await reportOld(options, ranges);
  const { chain, database } = options;
  const datasets = datasetsOf(chain, options.datasets);
  const fromLogs = datasets.filter((dataset) => deepestPart(dataset, chain) === 'logs');
  const names = new Set(fromLogs.map(({ name }) => name));
  const coverage = (await listCoverage(database, chain.id)).filter(({ dataset }) => names.has(dataset));
  const fast = coverage.filter(({ proof }) => proof === 'none').map(({ range }) => range);
  const covered = coverage.map(({ range }) => range);
  const redoProven = subtractRanges(intersectRanges(ranges, covered), fast);
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
          ...{ ...options, datasets, owner, proof, policy: options.proof },
          knownContracts: createKnownContracts(),
          order: 'oldest-first',
          kind: 'replace',
          onProgress: (own) => options.onProgress?.(joined(inBlocks(own, part))),
        },
        part,
        signal,
      );
      before = joined(inBlocks(result, part));
    }
    return before;
  });
  return requireAll(done);
}

/** Repairs mismatches and raises proof levels. @throws RangeClaimedError */
export async function verifyRanges(
  options: RangeCommandOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<VerifyReport> {
  const { chain, database } = options;
  const wanted = mergeRanges(ranges);
  const coverage = await listCoverage(database, chain.id);
  const retainedFrom = await readRetainedFrom(database, options);
  const works = verifications(options, wanted, coverage, retainedFrom);
  const total = works.flatMap(({ covered }) => covered).reduce((sum, range) => sum + rangeSize(range), 0);
  const proven: { readonly range: BlockRange; readonly proof: ProofLevel }[] = [];
  const repairs: Repair[] = [];
  let done = 0;
  await withOwner(options, async (owner) => {
    for (const { datasets, range } of works.flatMap((work) => inSpans(work, retainedFrom))) {
      if (!(await owner.claim(chain.id, range, 'verify')))
        throw new RangeClaimedError({ chain: chain.key, range, purpose: 'work' });
      const own = { ...options, datasets, owner, policy: options.proof, knownContracts: createKnownContracts() };
      for await (const part of verifyRange(own, range, VERIFY_READS_IN_FLIGHT, signal)) {
        proven.push(...part.proven);
        repairs.push(...part.repairs);
        done += rangeSize(part.range);
        options.onProgress?.(inBlocks({ done, total, logs: 0, unavailable: null }, wanted));
      }
    }
  });
  return {
    levels: countOnce(proven),
    repairs,
    uncovered: mergeRanges(works.flatMap(({ covered }) => subtractRanges(wanted, covered))),
  };
}

const LEVELS: readonly ProofLevel[] = ['unproven', 'none', 'record', 'cross', 'receipts', 'not-applicable'];

function countOnce(proven: readonly { readonly range: BlockRange; readonly proof: ProofLevel }[]) {
  const levels: Record<string, number> = {};
  let counted: BlockRange[] = [];
  for (const level of LEVELS) {
    const ranges = mergeRanges(proven.filter(({ proof }) => proof === level).map(({ range }) => range));
    const blocks = subtractRanges(ranges, counted).reduce((sum, range) => sum + rangeSize(range), 0);
    if (blocks > 0) levels[level] = blocks;
    counted = mergeRanges([...counted, ...ranges]);
  }
  return levels;
}

interface Verification {
  readonly datasets: readonly Dataset[];
  readonly covered: readonly BlockRange[];
}

function verifications(
  { chain, datasets }: RangeCommandOptions,
  wanted: readonly BlockRange[],
  coverage: readonly CoveredRange[],
  retainedFrom: number,
): Verification[] {
  const alike = Map.groupBy(datasetsOf(chain, datasets), (dataset) => deepestPart(dataset, chain));
  return [...alike.values()].map((some) => {
    const left = [...coverage, ...notNeeded(chain, some, some.every(isDroppable) ? 0 : retainedFrom)];
    let covered = [...wanted];
    for (const { name } of some) {
      const own = left.filter(({ dataset }) => dataset === name).map(({ range }) => range);
      covered = intersectRanges(covered, own);
    }
    return { datasets: some, covered };
  });
}

/** None crosses the first retained block: above it, all datasets are verified. */
function inSpans({ datasets, covered }: Verification, retainedFrom: number) {
  const spans: { readonly datasets: readonly Dataset[]; readonly range: BlockRange }[] = [];
  const old = { from: 0, to: retainedFrom - 1 };
  const parts =
    retainedFrom === 0 ? covered : [...intersectRanges(covered, [old]), ...subtractRanges(covered, [old])];
  for (const { from: first, to: last } of parts)
    for (let from = first; from <= last; from += VERIFY_SPAN_BLOCKS)
      spans.push({ datasets, range: { from, to: Math.min(last, from + VERIFY_SPAN_BLOCKS - 1) } });
  return spans;
}

/** @throws RangeNotFinalError for blocks that only the follower may write */
async function requireFinal({ chain, pool, database }: RangeCommandOptions, ranges: readonly BlockRange[]) {
  const state = await readChainState(database, chain.id);
  const settled = await readSettledHeight(pool, chain);
  const highestFinal =
    // Blocks below the first followed one are never rolled back, even if the chain stalls.
    state === null
      ? settled
      : Math.max(state.firstFollowed - 1, Math.min(settled, state.checkpoint?.number ?? 0));
  const beyond = ranges.find((range) => range.to > highestFinal);
  if (beyond !== undefined) throw new RangeNotFinalError({ chain: chain.key, range: beyond, highestFinal });
}

/** Requested blocks that are not read would otherwise appear done. */
async function reportOld(options: RangeCommandOptions, ranges: readonly BlockRange[]): Promise<void> {
  const { chain, database, datasets, logger } = options;
  const retainedFrom = await readRetainedFrom(database, options);
  const left = datasetsOf(chain, datasets)
    .filter(isDroppable)
    .map(({ name }) => name);
  if (left.length > 0 && ranges.some(({ from }) => from < retainedFrom))
    logger.warn(
      { chain: chain.key, datasets: left, kept_from: retainedFrom },
      'Blocks below the retention window (RETENTION_BLOCKS, RETENTION_FROM_DATE) are not read for these datasets',
    );
}

async function withOwner<T>(
  { chain, database, datasets }: RangeCommandOptions,
  work: (owner: Awaited<ReturnType<typeof createClaimOwner>>) => Promise<T>,
): Promise<T> {
  await registerProjections(database, chain, datasetsOf(chain, datasets));
  const owner = await createClaimOwner(database);
  try {
    return await work(owner);
  } finally {
    await owner.close();
  }
}
