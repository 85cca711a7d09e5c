import type { Chain } from '@chainstead/chains';
import type { BlockRange, ChainId } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { readChainState } from '../checkpoint.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { listCoverage } from './coverage.ts';
import { dropsHistory, isDroppable, type RetentionSettings } from './retention-settings.ts';

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
