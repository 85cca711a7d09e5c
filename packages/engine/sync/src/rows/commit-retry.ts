import type { Chain } from '@chainstead/chains';
import { defineError } from '@chainstead/core';
import { commitLock, type Database, type HeldLock, type Transaction } from '@chainstead/db';

const ATTEMPTS_MAX = 8;

/** An assumption made before the transaction had the commit lock is false under it. */
export class OptimisticWriteConflictError extends defineError('OPTIMISTIC_WRITE_CONFLICT', (assumed: string) => ({
  message: `Rows have to be written again: it is no longer true that ${assumed}`,
  facts: { assumed },
  retryable: true,
})) {}

export interface CommitAttempt {
  /** An earlier attempt lost a deadlock or conflict, which the commit lock excludes. */
  readonly lockFirst: boolean;
  /** Writes through staging. */
  readonly rowsMayExist: boolean;
}

/**
 * Postgres may abort a writer that waits for the commit lock, once per part of another writer.
 * @throws the error of the last attempt
 */
export async function retryCommit<T>(
  attempt: (how: CommitAttempt) => Promise<T>,
  repair: (error: unknown) => Promise<boolean> = async () => false,
): Promise<T> {
  let how: CommitAttempt = { lockFirst: false, rowsMayExist: false };
  for (let lost = 0; ; )
    try {
      return await attempt(how);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === DEADLOCK || error instanceof OptimisticWriteConflictError) {
        lost += 1;
        if (lost === ATTEMPTS_MAX) throw error;
        how = { ...how, lockFirst: true };
      } else if (code === UNIQUE_VIOLATION && !how.rowsMayExist) how = { ...how, rowsMayExist: true };
      else if (!(await repair(error))) throw error;
    }
}

const UNIQUE_VIOLATION = '23505';
const DEADLOCK = '40P01';

/** Retried after a deadlock: ranges write rows before they take the lock. */
export function underCommitLock<T>(
  database: Pick<Database, 'transaction'>,
  chain: Pick<Chain, 'id'>,
  write: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return retryCommit(() =>
    database.transaction(async (transaction) => {
      await lockChainCommits(transaction, chain);
      return write(transaction);
    }),
  );
}

/** Until the transaction ends. @throws {DatabaseUnavailableError} if a node lags behind */
export async function lockChainCommits(
  transaction: Transaction,
  chain: Pick<Chain, 'id'>,
): Promise<Pick<HeldLock, 'isFirst'>> {
  return commitLock(transaction, `commit:${chain.id}`);
}
