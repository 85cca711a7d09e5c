import type { Chain } from '@chainstead/chains';
import type { Database, Transaction } from '@chainstead/db';
import { retryCommit } from './commit-retry.ts';
import { lockChainCommits } from './write-batch.ts';

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
