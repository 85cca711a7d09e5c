/** The chain's coverage is unchanged: such rows are proven later. */
import type { Log } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { deriveAdded } from '../projections/derive-changes.ts';
import { DatasetFailedError } from '../read/dataset-failures.ts';
import {
  type BlockFacts,
  blockLinesOf,
  type DatasetLines,
  type DecodedBatch,
  decodeBatch,
} from '../read/decoded-batch.ts';
import type { CommitAttempt } from '../rows/commit-retry.ts';
import { writeContracts } from '../rows/known-contracts.ts';
import { lockChainCommits, writeRows } from '../rows/write-batch.ts';
import type { CommitDependencies } from './commit-followed.ts';
import { commitRows } from './commit-rows.ts';

export interface SubjectCommit extends SubjectRecording {
  readonly datasets: readonly Dataset[];
  /** In chain order, of settled blocks only. */
  readonly logs: readonly Log[];
  readonly blocks: ReadonlyMap<number, BlockFacts>;
}

export interface SubjectRowsCommit extends SubjectRecording {
  readonly blocks: readonly BlockFacts[];
  readonly parts: readonly DatasetLines[];
}

interface SubjectRecording {
  /** First in the transaction, to check preconditions such as block claims. */
  begin?(transaction: Transaction): Promise<void>;
  /** Under the commit lock. `rowsAdded`: those that did not exist. */
  record(transaction: Transaction, rowsAdded: number): Promise<void>;
}

type SubjectDependencies = Omit<CommitDependencies, 'datasets'>;

/** Idempotent. @returns the number of rows added. @throws DatasetFailedError */
export async function commitSubject(dependencies: SubjectDependencies, commit: SubjectCommit): Promise<number> {
  const { chain, rowsAtOnce } = dependencies;
  const { datasets, blocks } = commit;
  const batch = decodeBatch(chain, datasets, commit.logs, blocks, rowsAtOnce);
  const [failure] = batch.failures;
  if (failure !== undefined) throw new DatasetFailedError(chain, failure);
  return writeSubject(dependencies, { ...commit, datasets, batch, numbers: [...blocks.keys()] });
}

export async function commitSubjectRows(dependencies: SubjectDependencies, commit: SubjectRowsCommit): Promise<number> {
  const { blocks, parts } = commit;
  return writeSubject(dependencies, {
    ...commit,
    datasets: parts.map(({ dataset }) => dataset),
    batch: { blockLines: blockLinesOf(dependencies.chain, blocks), parts, failures: [] },
    numbers: blocks.map(({ number }) => number),
  });
}

type SubjectBatch = SubjectRecording & { datasets: readonly Dataset[]; batch: DecodedBatch; numbers: number[] };

async function writeSubject(
  dependencies: SubjectDependencies,
  { datasets, batch, numbers, ...commit }: SubjectBatch,
): Promise<number> {
  const { database, chain, knownContracts } = dependencies;
  const write = ({ lockFirst }: CommitAttempt) =>
    database.transaction(async (transaction) => {
      if (lockFirst) await lockChainCommits(transaction, chain);
      await commit.begin?.(transaction);
      // Rows before the lock, as every writer: a backfill may hold rows and wait for the lock.
      const added = await writeRows(transaction, batch, { blocks: 'may-exist', rows: 'may-exist' });
      await lockChainCommits(transaction, chain);
      await deriveAdded(transaction, chain, added.changes);
      const rowsAdded = added.changes.reduce((sum, { rows }) => sum + rows, 0);
      const contracts = await writeContracts(transaction, chain, added.contracts, knownContracts);
      await commit.record(transaction, rowsAdded);
      return { contracts, rowsAdded };
    });
  const blocks = numbers.toSorted((a, b) => a - b).map((number) => ({ from: number, to: number }));
  const placed = { blocks, batch, rows: 'single' } as const;
  const { contracts, rowsAdded } = await commitRows(dependencies, datasets, placed, write);
  knownContracts.add(contracts);
  return rowsAdded;
}
