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
import { lockChainCommits } from '../rows/commit-retry.ts';
import { type SeenContract, writeContracts } from '../rows/known-contracts.ts';
import { writeRows } from '../rows/write-batch.ts';
import type { CommitDependencies } from './commit-followed.ts';
import { commitRows, type PlacedRows, requireCurrent } from './commit-rows.ts';

interface SettledCommit<Result> {
  readonly datasets: readonly Dataset[];
  readonly placed: PlacedRows;
  /** Else rows are written before the commit lock, as others write theirs. @default false */
  readonly locksFirst?: boolean;
  /** Preconditions such as claims of the blocks. */
  begin?(transaction: Transaction): Promise<void>;
  /** Calls `lock` before it changes coverage, contracts or projections, which ranges share. */
  write(transaction: Transaction, how: SettledAttempt): Promise<SettledRows<Result>>;
}

interface SettledAttempt {
  readonly rowsMayExist: boolean;
  /** Rejects if a definition has changed. */
  lock(): Promise<void>;
}

export interface SettledRows<Result> {
  readonly contracts: readonly SeenContract[];
  readonly result: Result;
}

/** One transaction of all but the follower: a range, single rows of a subject, or a repair. */
export async function commitSettled<Result>(
  dependencies: Omit<CommitDependencies, 'datasets'>,
  { datasets, placed, locksFirst = false, begin, write }: SettledCommit<Result>,
): Promise<Result> {
  const { database, chain, knownContracts } = dependencies;
  const { contracts, result } = await commitRows(dependencies, datasets, placed, ({ lockFirst, rowsMayExist }) =>
    // Invariant: SYNC-WHOLE-BLOCK
    database.transaction(async (transaction) => {
      const isLocked = lockFirst || locksFirst;
      if (isLocked) await lockChainCommits(transaction, chain);
      await begin?.(transaction);
      const lock = async (): Promise<void> => {
        if (!isLocked) await lockChainCommits(transaction, chain);
        await requireCurrent(transaction, datasets);
      };
      const written = await write(transaction, { rowsMayExist, lock });
      return {
        ...written,
        contracts: await writeContracts(transaction, chain, written.contracts, knownContracts),
      };
    }),
  );
  knownContracts.add(contracts);
  return result;
}

interface SubjectCommit extends SubjectRecording {
  readonly datasets: readonly Dataset[];
  /** In chain order, of settled blocks only. */
  readonly logs: readonly Log[];
  readonly blocks: ReadonlyMap<number, BlockFacts>;
}

interface SubjectRowsCommit extends SubjectRecording {
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

export async function commitSubjectRows(
  dependencies: SubjectDependencies,
  commit: SubjectRowsCommit,
): Promise<number> {
  const { blocks, parts } = commit;
  return writeSubject(dependencies, {
    ...commit,
    datasets: parts.map(({ dataset }) => dataset),
    batch: { blockLines: blockLinesOf(dependencies.chain, blocks), parts, failures: [] },
    numbers: blocks.map(({ number }) => number),
  });
}

type SubjectBatch = SubjectRecording & { datasets: readonly Dataset[]; batch: DecodedBatch; numbers: number[] };

function writeSubject(
  dependencies: SubjectDependencies,
  { datasets, batch, numbers, begin, record }: SubjectBatch,
): Promise<number> {
  const { chain } = dependencies;
  const blocks = numbers.toSorted((a, b) => a - b).map((number) => ({ from: number, to: number }));
  return commitSettled(dependencies, {
    datasets,
    placed: { blocks, batch, rows: 'single' },
    ...(begin && { begin }),
    async write(transaction, { lock }) {
      // Rows before the lock, as every writer: a backfill may hold rows and wait for the lock.
      const added = await writeRows(transaction, batch, { blocks: 'may-exist', rows: 'may-exist' });
      await lock();
      await deriveAdded(transaction, chain, added.changes);
      const rowsAdded = added.changes.reduce((sum, { rows }) => sum + rows, 0);
      await record(transaction, rowsAdded);
      return { contracts: added.contracts, result: rowsAdded };
    },
  });
}
