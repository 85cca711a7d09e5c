import type { Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { lockChainCommits } from '../rows/commit-lock.ts';
import { type SeenContract, writeContracts } from '../rows/known-contracts.ts';
import type { CommitDependencies } from './commit-followed.ts';
import { commitRows, type PlacedRows, requireCurrent } from './commit-rows.ts';

export interface SettledCommit<Result> {
  readonly datasets: readonly Dataset[];
  readonly placed: PlacedRows;
  /** Else rows are written before the commit lock, as others write theirs. @default false */
  readonly locksFirst?: boolean;
  /** Preconditions such as claims of the blocks. */
  begin?(transaction: Transaction): Promise<void>;
  /** Calls `lock` before it changes coverage, contracts or projections, which ranges share. */
  write(transaction: Transaction, how: SettledAttempt): Promise<SettledRows<Result>>;
}

export interface SettledAttempt {
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
