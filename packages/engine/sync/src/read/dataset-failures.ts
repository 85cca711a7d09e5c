import type { Chain } from '@chainstead/chains';
import { type BlockRange, type ChainId, defineError, errorText, mergeRanges, rangeSize } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { missingCoverage, removeCoverage } from '../coverage/coverage.ts';
import type { CoveredRange } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';

export interface DecodeFailure {
  readonly dataset: Dataset;
  readonly block: number;
  readonly error: unknown;
}

/** A dataset threw while it decoded a block. */
export class DatasetFailedError extends defineError(
  'DATASET_FAILED',
  (chain: Chain, { dataset, block, error }: DecodeFailure) => ({
    message: `The dataset ${dataset.name} can't decode block ${block} of ${chain.key}: ${errorText(error)}`,
    facts: { chain: chain.key, dataset: dataset.name, block },
    remedy: `Fix the dataset's decoder, then run "chainstead reindex --chain ${chain.key} --dataset ${dataset.name} --from ${block} --to ${block}". "chainstead gaps" lists other missing blocks`,
    cause: error,
  }),
) {}

export function withoutFailures(
  datasets: readonly Dataset[],
  failures: readonly DecodeFailure[],
): readonly Dataset[] {
  const failed = new Set(failures.map(({ dataset }) => dataset));
  return datasets.filter((dataset) => !failed.has(dataset));
}

export interface DatasetFailure {
  readonly dataset: string;
  /** From the first failed block to the last. */
  readonly range: BlockRange;
  readonly blocks: number;
  readonly message: string;
}

/** Removes the blocks from coverage: call it after coverage is recorded. */
export async function recordDatasetFailures(
  transaction: Transaction,
  chainId: ChainId,
  failures: readonly DecodeFailure[],
): Promise<void> {
  // Invariant: SYNC-NO-GAP
  for (const [{ name }, ofDataset] of Map.groupBy(failures, ({ dataset }) => dataset)) {
    const blocks = ofDataset.map(({ block }) => block);
    for (const range of mergeRanges(blocks.map((block) => ({ from: block, to: block }))))
      await removeCoverage(transaction, chainId, [name], range);
    await transaction.query(
      sql`INSERT INTO dataset_failures AS known (chain_id, dataset, first_block, last_block, error_message) VALUES (${chainId}, ${name}, ${Math.min(...blocks)}, ${Math.max(...blocks)}, ${errorText(ofDataset.at(-1)?.error)})
       ON CONFLICT (chain_id, dataset) DO UPDATE SET first_block = least(known.first_block, excluded.first_block),
         last_block = greatest(known.last_block, excluded.last_block), error_message = excluded.error_message, failed_at = now()`,
    );
  }
}

export type RecordedFailure = Omit<DatasetFailure, 'blocks'>;

export async function readRecordedFailures(
  source: Pick<Database, 'query'>,
): Promise<ReadonlyMap<number, readonly RecordedFailure[]>> {
  const failures = await source.query<RecordedFailure & { chain: number }>(
    sql`SELECT chain_id AS chain, dataset, json_build_object('from', first_block, 'to', last_block) AS range, error_message AS message
       FROM dataset_failures ORDER BY chain_id, dataset`,
  );
  return Map.groupBy(failures, ({ chain }) => chain);
}

export function openFailures(
  recorded: readonly RecordedFailure[],
  covered: readonly CoveredRange[],
): readonly DatasetFailure[] {
  return recorded.flatMap(({ dataset, range: whole, message }) => {
    const missing = missingCoverage(whole, [dataset], covered);
    const blocks = missing.reduce((sum, { range }) => sum + rangeSize(range), 0);
    return blocks === 0 ? [] : [{ dataset, range: whole, message, blocks }];
  });
}

export async function forgetMendedDatasets(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
  recorded: readonly RecordedFailure[],
  open: readonly DatasetFailure[],
): Promise<void> {
  const mended = recorded
    .map(({ dataset }) => dataset)
    .filter((name) => open.every(({ dataset }) => dataset !== name));
  if (mended.length > 0)
    await source.query(
      sql`DELETE FROM dataset_failures WHERE chain_id = ${chainId} AND dataset = ANY(${mended}::text[])`,
    );
}
