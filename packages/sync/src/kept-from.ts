import type { Chain } from '@chainstead/chains';
import type { BlockRange, ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { readChainState } from './checkpoint.ts';
import { listCoverage } from './coverage.ts';
import type { Dataset } from './dataset.ts';
import { dropsHistory, isDroppable, type KeepSettings } from './keep-settings.ts';

/** What the lowest kept block follows from: the setting, the checkpoint and stored headers. Nothing of it is stored. */
export interface Kept {
  readonly chain: Pick<Chain, 'id' | 'reorgDepthMax'>;
  readonly keep?: KeepSettings | undefined;
}

/**
 * The lowest block of which rows of droppable datasets are wanted; 0 where all are. Never above what can still be reorganised. It rises
 * with the chain, and falls by no more than a reorganisation may.
 */
export async function readKeptFrom(source: Pick<Database, 'query'>, { chain, keep }: Kept): Promise<number> {
  if (!dropsHistory(keep)) return 0;
  const state = await readChainState(source, chain.id);
  if (state === null) return 0;
  const next = state.checkpoint === null ? state.firstFollowed : state.checkpoint.number + 1;
  const { blocks, since } = keep;
  const byNumber = blocks === null ? [] : [next - blocks];
  const byTime = since === null ? [] : [await firstStoredSince(source, chain.id, since)];
  return Math.max(0, Math.min(next - chain.reorgDepthMax, ...byNumber, ...byTime));
}

/** A part of what a dataset covers, or need not cover. */
export interface CoveredRange {
  readonly dataset: string;
  readonly range: BlockRange;
}

/**
 * What is covered, and what need not be, since it lies below what is kept: neither is a gap, and nobody fills it.
 * @param within coverage that shares blocks with it; absent: all
 */
export async function listCoveredOrOld(
  source: Pick<Database, 'query'>,
  { chain, keep, datasets }: Kept & { readonly datasets: readonly Dataset[] },
  within?: BlockRange,
): Promise<readonly CoveredRange[]> {
  const old = belowKept(datasets, await readKeptFrom(source, { chain, keep }));
  return [...(await listCoverage(source, chain.id, within)), ...old];
}

/** What need not be covered, by dataset. @param keptFrom see {@link readKeptFrom} */
export function belowKept(datasets: readonly Dataset[], keptFrom: number): readonly CoveredRange[] {
  if (keptFrom === 0) return [];
  return datasets.filter(isDroppable).map(({ name }) => ({ dataset: name, range: { from: 0, to: keptFrom - 1 } }));
}

/**
 * The block after the last stored one that is earlier than the time; 0 where none is. Headers are stored sparsely: it may be lower than the first block of
 * that time (until `retention/settle-since.ts` has stored that one), never higher.
 */
export async function firstStoredSince(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
  since: Date,
): Promise<number> {
  // Times never fall as numbers rise: halves [low, high), one probe of the key a step.
  const [row] = await source.query<{ block: number }>(
    `WITH RECURSIVE steps(low, high) AS (
       SELECT 0::bigint, coalesce((SELECT max(block_number) + 1 FROM blocks WHERE chain_id = $1), 0)
       UNION ALL
       SELECT CASE WHEN probe.block_timestamp < $2 THEN probe.block_number + 1 ELSE step.low END,
         CASE WHEN probe.block_timestamp < $2 THEN step.high ELSE (step.low + step.high) / 2 END
       FROM steps AS step CROSS JOIN LATERAL (
         SELECT block_number, block_timestamp FROM blocks WHERE chain_id = $1 AND block_number >= (step.low + step.high) / 2
         ORDER BY block_number LIMIT 1) AS probe
       WHERE step.low < step.high)
     SELECT max(low) AS block FROM steps`,
    [chainId, since],
  );
  return row?.block ?? 0;
}
