import type { Chain } from '@chainstead/chains';
import { commitLock, type Database, type HeldLock, type Transaction } from '@chainstead/db';
import { retryCommit } from './commit-retry.ts';

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
