import type { Chain } from '@chainstead/chains';
import { type BlockRange, mergeRanges, subtractRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { type ChainState, readChainState } from '../checkpoint.ts';
import { listCoverage } from '../coverage/coverage.ts';
import { isDroppable, type RetentionSettings, readRetainedFrom } from '../coverage/retained-from.ts';
import { listSubjectRanges, type Subject } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { filtersOf, joinFilters, toQuery } from './read-subject-logs.ts';

/** Lacking in both the chain's coverage and the subject's. */
export interface MissingHistory {
  readonly dataset: Dataset;
  /** Ascending and final: readable now. */
  readonly ranges: readonly BlockRange[];
  readonly notFinal: readonly BlockRange[];
}

interface HistoryScope {
  readonly chain: Chain;
  readonly datasets: readonly Dataset[];
  readonly subject: Subject;
  /** @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
}

/** Up to the newest indexed block. True if nothing is indexed. */
export async function isHistoryMissing(database: Database, scope: HistoryScope): Promise<boolean> {
  const state = await readChainState(database, scope.chain.id);
  if (state === null) return true;
  const missing = await listMissing(database, scope, newestIndexed(state));
  return missing.some(({ ranges }) => ranges.length > 0);
}

/** Null before the chain was ever ingested. */
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
    // A dataset that is not followed always lacks the newest blocks: the next request reads them.
    const isFollowed = datasetsOf(scope.chain, [dataset]).length > 0;
    return { dataset, ranges: final, notFinal: isFollowed ? subtractRanges(ranges, final) : [] };
  });
}

function newestIndexed(state: ChainState): number {
  return Math.max(state.firstFollowed - 1, state.checkpoint?.number ?? 0);
}

async function listMissing(
  database: Database,
  { chain, datasets, subject, retention }: HistoryScope,
  newest: number,
) {
  const coverage = [...(await listCoverage(database, chain.id)), ...(await listSubjectRanges(database, subject))];
  const retainedFrom = await readRetainedFrom(database, { chain, retention });
  return datasets
    .filter((dataset) => filtersOf(dataset, chain, subject).length > 0)
    .map((dataset) => {
      const covered = coverage.filter((record) => record.dataset === dataset.name).map(({ range }) => range);
      const from = isDroppable(dataset) ? Math.max(chain.firstBlock, retainedFrom) : chain.firstBlock;
      return { dataset, ranges: from > newest ? [] : subtractRanges([{ from, to: newest }], covered) };
    });
}

/** Neither the chain nor the follower, which may lag on an abandoned branch, can roll it back. */
export async function readHighestFinal(pool: UpstreamPool, chain: Chain, state: ChainState): Promise<number> {
  const { value: head } = await pool.getHead();
  const finalized = chain.finalizedTag ? await pool.getFinalized() : null;
  const settled = Math.max(finalized ?? 0, head.number - chain.reorgDepthMax);
  const followed = (state.checkpoint?.number ?? 0) - chain.reorgDepthMax;
  return Math.min(settled, Math.max(state.firstFollowed - 1, followed));
}

export function estimateCalls(
  pool: UpstreamPool,
  chain: Chain,
  subject: Subject,
  shared: readonly SharedHistory[],
): number {
  let calls = 0;
  for (const { datasets, ranges } of shared)
    for (const filter of joinFilters(datasets.flatMap((dataset) => filtersOf(dataset, chain, subject))))
      calls += pool.estimateLogCalls(toQuery(filter), ranges);
  return calls;
}

export interface SharedHistory {
  readonly datasets: readonly Dataset[];
  readonly ranges: readonly BlockRange[];
}

/** Ranges are ascending per dataset and not adjacent. Cut where the set of datasets changes. */
export function shareRanges(
  plan: readonly { readonly dataset: Dataset; readonly ranges: readonly BlockRange[] }[],
): readonly SharedHistory[] {
  const cuts = new Set(plan.flatMap(({ ranges }) => ranges.flatMap(({ from, to }) => [from, to + 1])));
  const borders = [...cuts].toSorted((a, b) => a - b);
  const shared = new Map<string, { datasets: readonly Dataset[]; ranges: BlockRange[] }>();
  const cursors = plan.map(({ dataset, ranges }) => ({ dataset, ranges, next: 0 }));
  for (const [index, from] of borders.slice(0, -1).entries()) {
    const to = (borders[index + 1] ?? from) - 1;
    const datasets = cursors.flatMap((cursor) => {
      while ((cursor.ranges[cursor.next]?.to ?? Number.POSITIVE_INFINITY) < from) cursor.next++;
      const range = cursor.ranges[cursor.next];
      return range !== undefined && range.from <= from ? [cursor.dataset] : [];
    });
    if (datasets.length === 0) continue;
    const key = datasets.map(({ name }) => name).join(' ');
    const group = shared.get(key) ?? { datasets, ranges: [] };
    group.ranges.push({ from, to });
    shared.set(key, group);
  }
  return [...shared.values()].map(({ datasets, ranges }) => ({ datasets, ranges: mergeRanges(ranges) }));
}
