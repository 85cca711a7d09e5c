/** What is missing of a subject's history, and about how many node calls it takes to read it. */
import type { Chain } from '@chainstead/chains';
import { type BlockRange, subtractRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { type ChainState, readChainState } from '../checkpoint.ts';
import { listCoverage } from '../coverage.ts';
import type { Dataset } from '../dataset.ts';
import { datasetsOf } from '../datasets-of.ts';
import { isDroppable, type KeepSettings } from '../keep-settings.ts';
import { readKeptFrom } from '../kept-from.ts';
import { joinFilters } from './join-filters.ts';
import { filtersOf, toQuery } from './read-subject-logs.ts';
import type { SharedHistory } from './share-ranges.ts';
import type { Subject } from './subject.ts';
import { listSubjectRanges } from './subject-ranges.ts';

/** What one dataset lacks of a subject's history: nothing that the chain's own coverage or the subject's has. */
export interface MissingHistory {
  readonly dataset: Dataset;
  /** Ascending; final, hence readable now. */
  readonly ranges: readonly BlockRange[];
  /** Missing too, but still open to reorganisations. */
  readonly notFinal: readonly BlockRange[];
}

export interface HistoryScope {
  readonly chain: Chain;
  /** Those that have no histories don't count. */
  readonly datasets: readonly Dataset[];
  readonly subject: Subject;
  /** What is older is left alone for datasets that drop it. @default all is kept */
  readonly keep?: KeepSettings | undefined;
}

/** Whether a block up to the newest indexed one is missing of the subject's history. True where nothing is indexed. */
export async function isHistoryMissing(database: Database, scope: HistoryScope): Promise<boolean> {
  const state = await readChainState(database, scope.chain.id);
  if (state === null) return true;
  const missing = await listMissing(database, scope, newestIndexed(state));
  return missing.some(({ ranges }) => ranges.length > 0);
}

/** Null before the chain was ever ingested: nobody knows then where following begins. */
export async function planHistory(
  database: Database,
  pool: UpstreamPool,
  scope: HistoryScope,
): Promise<readonly MissingHistory[] | null> {
  const state = await readChainState(database, scope.chain.id);
  if (state === null) return null;
  const newest = newestIndexed(state);
  const highestFinal = await readHighestFinal(pool, scope.chain, state);
  const missing = await listMissing(database, scope, newest);
  return missing.map(({ dataset, ranges }) => {
    const final = subtractRanges(ranges, [{ from: highestFinal + 1, to: newest }]);
    // What is not followed always lacks the newest blocks: whoever asks next has them read.
    const isFollowed = datasetsOf(scope.chain, [dataset]).length > 0;
    return { dataset, ranges: final, notFinal: isFollowed ? subtractRanges(ranges, final) : [] };
  });
}

/** What is followed is indexed anyway; below it is history. */
function newestIndexed(state: ChainState): number {
  return Math.max(state.firstFollowed - 1, state.checkpoint?.number ?? 0);
}

async function listMissing(
  database: Database,
  { chain, datasets, subject, keep }: HistoryScope,
  newest: number,
): Promise<{ readonly dataset: Dataset; readonly ranges: readonly BlockRange[] }[]> {
  const known = [...(await listCoverage(database, chain.id)), ...(await listSubjectRanges(database, subject))];
  const keptFrom = await readKeptFrom(database, { chain, keep });
  return datasets
    .filter((dataset) => filtersOf(dataset, chain, subject).length > 0)
    .map((dataset) => {
      const covered = known.filter((one) => one.dataset === dataset.name).map(({ range }) => range);
      const from = isDroppable(dataset) ? Math.max(chain.firstBlock, keptFrom) : chain.firstBlock;
      return { dataset, ranges: from > newest ? [] : subtractRanges([{ from, to: newest }], covered) };
    });
}

/**
 * The highest block that neither the chain nor the follower can take back. Where the follower lags, its checkpoint may lie
 * on a branch that was left: what it would roll back counts from there.
 */
export async function readHighestFinal(pool: UpstreamPool, chain: Chain, state: ChainState): Promise<number> {
  const { value: head } = await pool.getHead();
  const finalized = chain.finalizedTag ? await pool.getFinalized() : null;
  const settled = Math.max(finalized ?? 0, head.number - chain.reorgDepthMax);
  const followed = (state.checkpoint?.number ?? 0) - chain.reorgDepthMax;
  return Math.min(settled, Math.max(state.firstFollowed - 1, followed));
}

/** Node calls for the logs; headers of blocks that turn out to have some come on top where logs carry no timestamps. */
export function estimateCalls(
  pool: UpstreamPool,
  chain: Chain,
  subject: Subject,
  shared: readonly SharedHistory[],
): number {
  return shared
    .flatMap(({ datasets, ranges }) =>
      joinFilters(datasets.flatMap((dataset) => filtersOf(dataset, chain, subject))).map((filter) => ({
        filter,
        ranges,
      })),
    )
    .reduce((sum, { filter, ranges }) => sum + pool.estimateLogCalls(toQuery(filter), ranges), 0);
}
