import { errorText, type Logger } from '@chainstead/core';
import type { Database, Transaction } from '../database.ts';
import { sql } from '../sql.ts';

/** A session with a lock that another one waits for. */
export interface LockHolder {
  readonly pid: number;
  readonly role: string;
  /** `unnamed` if empty. */
  readonly application: string;
}

/** Enough to see a wait before its timeout. */
const LOOKS_PER_TIMEOUT = 4;

interface LockWatchOptions {
  /** For the checks, which need a separate connection. */
  readonly database: Database;
  readonly transaction: Transaction;
  /** For the transaction. */
  readonly lockTimeoutMs: number;
  readonly logger: Logger;
}

/** Watches which sessions block a transaction. `stop` returns those last seen. */
export async function watchLockHolders(options: LockWatchOptions) {
  const { database, transaction, lockTimeoutMs, logger } = options;
  const [session] = await transaction.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  let seen: readonly LockHolder[] = [];
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      // Role and application of other roles' sessions are visible to every role, unlike their statements.
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
  // The first check is immediate: opening its connection may take as long as the timeout.
  void look();
  const timer = setInterval(() => void look(), lockTimeoutMs / LOOKS_PER_TIMEOUT);
  return {
    stop(): readonly LockHolder[] {
      clearInterval(timer);
      return seen;
    },
  };
}
