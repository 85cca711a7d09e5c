/** Blocks that datasets could not decode. They are missing from the dataset's coverage; everything else continues. */
import type { Chain } from '@chainstead/chains';
import { type BlockRange, type ChainId, defineError, errorText, mergeRanges, rangeSize } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { missingCoverage, removeCoverage } from '../coverage/coverage.ts';
import type { CoveredRange } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';

export interface DecodeFailure {
  readonly dataset: Dataset;
  readonly block: number;
  /** The error thrown by the dataset. */
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

/** Returns the datasets that decoded every block. */
export function withoutFailures(datasets: readonly Dataset[], failures: readonly DecodeFailure[]): readonly Dataset[] {
  return failures.length === 0 ? datasets : datasets.filter((one) => failures.every(({ dataset }) => dataset !== one));
}

/** A dataset with missing blocks, because it could not decode one of them. */
export interface DatasetFailure {
  readonly dataset: string;
  /** From its first failed block to the last. */
  readonly range: BlockRange;
  /** Blocks of the range that it does not cover. */
  readonly blocks: number;
  /** Message of its last error. */
  readonly message: string;
}

/**
 * Removes the blocks from the datasets' coverage and records the errors. Runs in the transaction that writes the rows
 * of other datasets, after coverage is recorded.
 */
export async function recordDatasetFailures(
  transaction: Transaction,
  chainId: ChainId,
  failures: readonly DecodeFailure[],
): Promise<void> {
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

interface FailureRow {
  chain_id: number;
  dataset: string;
  first_block: number;
  last_block: number;
  error_message: string;
}

/** The stored part of a failure. */
export type RecordedFailure = Omit<DatasetFailure, 'blocks'>;

/** Returns the recorded failures of all chains, in one statement. */
export async function readRecordedFailures(
  source: Pick<Database, 'query'>,
): Promise<ReadonlyMap<number, readonly RecordedFailure[]>> {
  const rows = await source.query<FailureRow>(
    sql`SELECT chain_id, dataset, first_block, last_block, error_message FROM dataset_failures ORDER BY chain_id, dataset`,
  );
  const byChain = Map.groupBy(rows, ({ chain_id }) => chain_id);
  return new Map(
    [...byChain].map(([chainId, ofChain]) => [
      chainId,
      ofChain.map(({ dataset, first_block: from, last_block: to, error_message: message }) => ({
        dataset,
        range: { from, to },
        message,
      })),
    ]),
  );
}

/**
 * Returns failures with blocks still missing; the others are fixed.
 * @param covered ranges that the datasets cover or need not cover
 */
export function openFailures(
  recorded: readonly RecordedFailure[],
  covered: readonly CoveredRange[],
): readonly DatasetFailure[] {
  return recorded.flatMap((failure) => {
    const missing = missingCoverage(failure.range, [failure.dataset], covered);
    const blocks = missing.reduce((sum, { range }) => sum + rangeSize(range), 0);
    return blocks === 0 ? [] : [{ ...failure, blocks }];
  });
}

/** Deletes the recorded failures of datasets without an open one. */
export async function forgetMendedDatasets(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
  recorded: readonly RecordedFailure[],
  open: readonly DatasetFailure[],
): Promise<void> {
  const mended = recorded.map(({ dataset }) => dataset).filter((name) => open.every(({ dataset }) => dataset !== name));
  if (mended.length > 0)
    await source.query(
      sql`DELETE FROM dataset_failures WHERE chain_id = ${chainId} AND dataset = ANY(${mended}::text[])`,
    );
}
