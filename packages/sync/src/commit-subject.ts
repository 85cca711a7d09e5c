/**
 * One transaction of a history that was read on demand: rows of some datasets that may be there already, block rows, token
 * contracts, and what the caller records of its progress. Coverage of the chain stays as it is: such rows are proven later.
 */
import type { Log } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { CommitDependencies } from './commit-followed.ts';
import { retryCommit } from './commit-retry.ts';
import type { Dataset } from './dataset.ts';
import { type BlockFacts, blockLinesOf, type DatasetLines, type DecodedBatch, decodeBatch } from './decoded-batch.ts';
import { deriveAdded } from './derived/derive-changes.ts';
import { writeContracts } from './known-contracts.ts';
import { withPartitions } from './partitions/with-partitions.ts';
import { lockChainCommits, writeRows } from './write-batch.ts';

export interface SubjectCommit extends SubjectRecording {
  /** The datasets that the logs were read for. */
  readonly datasets: readonly Dataset[];
  /** In chain order, of blocks that can't be reorganised any more. */
  readonly logs: readonly Log[];
  /** Every block of the logs. */
  readonly blocks: ReadonlyMap<number, BlockFacts>;
}

export interface SubjectRowsCommit extends SubjectRecording {
  /** What the rows are of. */
  readonly blocks: readonly BlockFacts[];
  /** All rows, each dataset once. */
  readonly parts: readonly DatasetLines[];
}

interface SubjectRecording {
  /** Runs first in the transaction: what must still hold, such as claims of the blocks. What it throws ends it. */
  begin?(transaction: Transaction): Promise<void>;
  /** Runs in the transaction, under the chain's commit lock; `rowsAdded` counts those that were not there. */
  record(transaction: Transaction, rowsAdded: number): Promise<void>;
}

type SubjectDependencies = Omit<CommitDependencies, 'datasets'>;

/** Run twice, the second time adds nothing. @returns how many rows were added. */
export async function commitSubject(dependencies: SubjectDependencies, commit: SubjectCommit): Promise<number> {
  const { chain, rowsAtOnce } = dependencies;
  const { datasets, blocks } = commit;
  const batch = decodeBatch(chain, datasets, commit.logs, blocks, rowsAtOnce);
  return writeSubject(dependencies, { ...commit, datasets, batch, numbers: [...blocks.keys()] });
}

/** As {@link commitSubject}, for rows of blocks that were read whole, some of which are the subject's. */
export async function commitSubjectRows(dependencies: SubjectDependencies, commit: SubjectRowsCommit): Promise<number> {
  const { blocks, parts } = commit;
  return writeSubject(dependencies, {
    ...commit,
    datasets: parts.map(({ dataset }) => dataset),
    batch: { blockLines: blockLinesOf(dependencies.chain, blocks), parts },
    numbers: blocks.map(({ number }) => number),
  });
}

interface SubjectBatch extends SubjectRecording {
  readonly datasets: readonly Dataset[];
  readonly batch: DecodedBatch;
  /** Of the blocks. */
  readonly numbers: readonly number[];
}

async function writeSubject(
  dependencies: SubjectDependencies,
  { datasets, batch, numbers, ...commit }: SubjectBatch,
): Promise<number> {
  const { database, chain, knownContracts } = dependencies;
  const write = (lockFirst: boolean) =>
    database.transaction(async (transaction) => {
      if (lockFirst) await lockChainCommits(transaction, chain);
      await commit.begin?.(transaction);
      // Before the lock, in the order in which every writer of rows goes: a backfill may hold rows and wait for the lock.
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
  const { contracts, rowsAdded } = await withPartitions(dependencies, datasets, placed, () => retryCommit(write));
  knownContracts.add(contracts);
  return rowsAdded;
}
