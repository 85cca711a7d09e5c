/**
 * One transaction of a history that was read on demand: rows of some datasets that may be there already, block rows, token
 * contracts, and what the caller records of its progress. Coverage of the chain stays as it is: such rows are proven later.
 */
import type { Log } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { CommitDependencies } from './commit-followed.ts';
import { retryDeadlock } from './commit-retry.ts';
import type { Dataset } from './dataset.ts';
import { type BlockFacts, decodeBatch } from './decoded-batch.ts';
import { deriveAdded } from './derived/derive-changes.ts';
import { writeContracts } from './known-contracts.ts';
import { withPartitions } from './partitions/with-partitions.ts';
import { lockChainCommits, writeRows } from './write-batch.ts';

export interface SubjectCommit {
  /** The datasets that the logs were read for. */
  readonly datasets: readonly Dataset[];
  /** In chain order, of blocks that can't be reorganised any more. */
  readonly logs: readonly Log[];
  /** Every block of the logs. */
  readonly blocks: ReadonlyMap<number, BlockFacts>;
  /** Runs first in the transaction: what must still hold, such as claims of the blocks. What it throws ends it. */
  begin?(transaction: Transaction): Promise<void>;
  /** Runs in the transaction, under the chain's commit lock; `rowsAdded` counts those that were not there. */
  record(transaction: Transaction, rowsAdded: number): Promise<void>;
}

/** Run twice, the second time adds nothing. @returns how many rows were added. */
export async function commitSubject(
  dependencies: Omit<CommitDependencies, 'datasets'>,
  commit: SubjectCommit,
): Promise<number> {
  const { database, chain, knownContracts } = dependencies;
  const batch = decodeBatch(chain, commit.datasets, commit.logs, commit.blocks, dependencies.rowsAtOnce);
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
  const blocks = [...commit.blocks.keys()].toSorted((a, b) => a - b).map((number) => ({ from: number, to: number }));
  const placed = { blocks, batch, rows: 'single' } as const;
  const { contracts, rowsAdded } = await withPartitions(dependencies, commit.datasets, placed, () =>
    retryDeadlock(write),
  );
  knownContracts.add(contracts);
  return rowsAdded;
}
