import { errorText, type Logger } from '@chainstead/core';
import type { Database, Transaction } from '../database.ts';
import { type Sql, sql } from '../sql.ts';

/** A session with a lock that another one waits for. */
export interface LockHolder {
  readonly pid: number;
  readonly role: string;
  /** Its `application_name`; `unnamed` if empty. */
  readonly application: string;
}

/** Watches which sessions block a transaction while it runs. */
export interface LockWatch {
  /** @returns the blocking sessions last seen; empty if none was seen */
  stop(): readonly LockHolder[];
}

/** Enough checks to see a wait before its timeout. */
const LOOKS_PER_TIMEOUT = 4;

export interface LockWatchOptions {
  /** For the checks, which need a separate connection. */
  readonly database: Database;
  readonly transaction: Transaction;
  /** Lock timeout of the transaction in milliseconds. */
  readonly lockTimeoutMs: number;
  readonly logger: Logger;
}

/** Watches until stopped. */
export async function watchLockHolders(options: LockWatchOptions): Promise<LockWatch> {
  const { database, transaction, lockTimeoutMs, logger } = options;
  const [session] = await transaction.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  let seen: readonly LockHolder[] = [];
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const holders = await database.query<LockHolder>(holdersOf(session?.pid ?? 0));
      if (holders.length > 0) seen = holders;
    } catch (error) {
      logger.debug({ error: errorText(error) }, 'Could not read which sessions block a migration');
    } finally {
      isLooking = false;
    }
  };
  // The first check is immediate: it may have to open its connection, which on a busy machine takes as long as the
  // timeout.
  void look();
  const timer = setInterval(() => void look(), lockTimeoutMs / LOOKS_PER_TIMEOUT);
  return {
    stop() {
      clearInterval(timer);
      return seen;
    },
  };
}

// Role and application of other roles' sessions are visible to every role, unlike their statements.
function holdersOf(pid: number): Sql {
  return sql`SELECT pid, coalesce(usename, '') AS role, coalesce(nullif(application_name, ''), 'unnamed') AS application
  FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids(${pid}))`;
}
