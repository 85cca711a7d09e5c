import type { Database, Transaction } from '@chainstead/db';

/**
 * Creating indexes and dropping tables may deadlock with commits and new partitions: Postgres ends one.
 * @throws the error of the last attempt
 */
export async function repeatedIfDeadlocked<Result>(
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++)
    try {
      return await database.transaction(work);
    } catch (error) {
      const isDeadlock = error instanceof Error && 'code' in error && error.code === DEADLOCK_DETECTED;
      if (attempt === ATTEMPTS || !isDeadlock) throw error;
    }
}

const ATTEMPTS = 5;
const DEADLOCK_DETECTED = '40P01';
