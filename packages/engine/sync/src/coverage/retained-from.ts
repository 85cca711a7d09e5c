import type { Chain } from '@chainstead/chains';
import type { BlockRange, ChainId } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { readChainState } from '../checkpoint.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { hasSubjects } from '../dataset/projection.ts';
import { listCoverage } from './coverage.ts';

export interface RetentionScope {
  readonly chain: Pick<Chain, 'id' | 'reorgDepthMax'>;
  readonly retention?: RetentionSettings | undefined;
}

/** 0: all. Never a block that a reorg may replace. */
export async function readRetainedFrom(
  source: Pick<Database, 'query'>,
  { chain, retention }: RetentionScope,
): Promise<number> {
  if (!dropsHistory(retention)) return 0;
  const state = await readChainState(source, chain.id);
  if (state === null) return 0;
  const next = state.checkpoint === null ? state.firstFollowed : state.checkpoint.number + 1;
  const { blocks, since } = retention;
  const byNumber = blocks === null ? [] : [next - blocks];
  const byTime = since === null ? [] : [await firstStoredSince(source, chain.id, since)];
  return Math.max(0, Math.min(next - chain.reorgDepthMax, ...byNumber, ...byTime));
}

/** A range that a dataset covers or need not cover. */
export interface CoveredRange {
  readonly dataset: string;
  readonly range: BlockRange;
}

export async function listCoveredOrOld(
  source: Pick<Database, 'query'>,
  { chain, retention, datasets }: RetentionScope & { readonly datasets: readonly Dataset[] },
  within?: BlockRange,
): Promise<readonly CoveredRange[]> {
  const old = notNeeded(chain, datasets, await readRetainedFrom(source, { chain, retention }));
  return [...(await listCoverage(source, chain.id, within)), ...old];
}

/** Below the retention window, or below the first block that a dataset needs. */
export function notNeeded(
  chain: Pick<Chain, 'id'>,
  datasets: readonly Dataset[],
  retainedFrom: number,
): readonly CoveredRange[] {
  return datasets.flatMap((dataset) => {
    const first = Math.max(dataset.firstBlock?.(chain) ?? 0, isDroppable(dataset) ? retainedFrom : 0);
    return first > 0 ? [{ dataset: dataset.name, range: { from: 0, to: first - 1 } }] : [];
  });
}

/** 0: none. Too low, never too high, until `settle-retention.ts` has stored its headers. */
export async function firstStoredSince(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
  since: Date,
): Promise<number> {
  // Bisects [low, high), one key lookup per step: timestamps never fall.
  const [row] = await source.query<{ block: number }>(
    sql`WITH RECURSIVE steps(low, high) AS (
       SELECT 0::bigint, coalesce((SELECT max(block_number) + 1 FROM blocks WHERE chain_id = ${chainId}), 0)
       UNION ALL
       SELECT CASE WHEN probe.block_timestamp < ${since} THEN probe.block_number + 1 ELSE step.low END,
         CASE WHEN probe.block_timestamp < ${since} THEN step.high ELSE (step.low + step.high) / 2 END
       FROM steps AS step CROSS JOIN LATERAL (
         SELECT block_number, block_timestamp FROM blocks WHERE chain_id = ${chainId} AND block_number >= (step.low + step.high) / 2
         ORDER BY block_number LIMIT 1) AS probe
       WHERE step.low < step.high)
     SELECT max(low) AS block FROM steps`,
  );
  return row?.block ?? 0;
}

/** A block in either setting is retained; both null: all. */
export interface RetentionSettings {
  /** Newest blocks; more than the chain's maximum reorg depth. */
  readonly blocks: number | null;
  readonly since: Date | null;
}

export function dropsHistory(retention: RetentionSettings | undefined): retention is RetentionSettings {
  return retention !== undefined && (retention.blocks !== null || retention.since !== null);
}

/** No value needs all its rows, and on-demand backfills may stop at the window. */
export function isDroppable({
  table,
  projections,
  histories,
  isKeptWhole = false,
  deletesOldRows = false,
}: Pick<Dataset, 'table' | 'projections' | 'histories' | 'isKeptWhole' | 'deletesOldRows'>): boolean {
  return (
    (table.isPartitioned || deletesOldRows) &&
    !isKeptWhole &&
    (projections ?? []).every((projection) => hasSubjects(projection) || projection.dropped !== undefined) &&
    (histories === undefined || histories.mayBeCut === true)
  );
}

/** Finalized, or deeper than the maximum reorg depth. */
export async function readSettledHeight(pool: UpstreamPool, chain: Chain): Promise<number> {
  const { value: head } = await pool.getHead();
  const finalized = chain.finalizedTag ? await pool.getFinalized() : null;
  return Math.max(finalized ?? 0, head.number - chain.reorgDepthMax);
}
