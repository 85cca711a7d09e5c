/** What is missing of a subject's history, and about how many node calls it takes to read it. */
import type { Chain } from '@chainstead/chains';
import { type BlockRange, subtractRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { readChainState } from '../checkpoint.ts';
import { listCoverage } from '../coverage.ts';
import type { Dataset } from '../dataset.ts';
import { filtersOf, toQuery } from './read-subject-logs.ts';
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

/** Null before the chain was ever ingested: nobody knows then where following begins. */
export async function planHistory(
  database: Database,
  pool: UpstreamPool,
  options: { readonly chain: Chain; readonly datasets: readonly Dataset[]; readonly subject: Subject },
): Promise<readonly MissingHistory[] | null> {
  const { chain, datasets, subject } = options;
  const state = await readChainState(database, chain.id);
  if (state === null) return null;
  const coverage = await listCoverage(database, chain.id);
  const own = await listSubjectRanges(database, subject);
  const newest = Math.max(state.firstFollowed - 1, state.checkpoint?.number ?? 0);
  const highestFinal = Math.min(newest, await readHighestFinal(pool, chain, state));
  return datasets
    .filter((dataset) => filtersOf(dataset, chain, subject).length > 0)
    .map((dataset) => {
      const covered = [...coverage, ...own].filter((one) => one.dataset === dataset.name).map((one) => one.range);
      const missing = subtractRanges([{ from: chain.firstBlock, to: newest }], covered);
      const open = [{ from: highestFinal + 1, to: newest }];
      const ranges = subtractRanges(missing, open);
      return { dataset, ranges, notFinal: subtractRanges(missing, ranges) };
    });
}

/**
 * The highest block that neither the chain nor the follower can take back. Where the follower lags, its checkpoint may lie
 * on a branch that was left: what it would roll back counts from there.
 */
async function readHighestFinal(
  pool: UpstreamPool,
  chain: Chain,
  state: { readonly firstFollowed: number; readonly checkpoint: { readonly number: number } | null },
): Promise<number> {
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
  plan: readonly MissingHistory[],
): number {
  return plan
    .flatMap(({ dataset, ranges }) => filtersOf(dataset, chain, subject).map((filter) => ({ filter, ranges })))
    .reduce((sum, { filter, ranges }) => sum + pool.estimateLogCalls(toQuery(filter), ranges), 0);
}
