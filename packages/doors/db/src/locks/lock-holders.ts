import { errorText, type Logger } from '@chainstead/core';
import type { Database, Transaction } from '../database.ts';
import { sql } from '../sql.ts';

/** Another session waits for its lock. */
export interface LockHolder {
  readonly pid: number;
  readonly role: string;
  readonly application: string;
}

const LOOKS_PER_TIMEOUT = 4;

interface LockWatchOptions {
  readonly database: Database;
  readonly transaction: Transaction;
  readonly lockTimeoutMs: number;
  readonly logger: Logger;
}

/** `stop` returns those last seen. */
export async function watchLockHolders(options: LockWatchOptions) {
  const { database, transaction, lockTimeoutMs, logger } = options;
  const [session] = await transaction.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  let seen: readonly LockHolder[] = [];
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      // Every role sees role and application of other sessions, unlike their statements.
      const holders = await database.query<LockHolder>(
        sql`SELECT pid, coalesce(usename, '') AS role, coalesce(nullif(application_name, ''), 'unnamed') AS application
           FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids(${session?.pid ?? 0}))`,
      );
      if (holders.length > 0) seen = holders;
    } catch (error) {
      logger.debug({ error: errorText(error) }, 'Could not read which sessions block a migration');
    } finally {
      isLooking = false;
    }
  };
  // Immediate: opening its connection may take the whole timeout.
  void look();
  const timer = setInterval(() => void look(), lockTimeoutMs / LOOKS_PER_TIMEOUT);
  return {
    stop(): readonly LockHolder[] {
      clearInterval(timer);
      return seen;
    },
  };
}
