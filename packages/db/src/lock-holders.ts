import { errorText, type Logger } from '@chainstead/core';
import type { Database, Transaction } from './database.ts';

/** A session that holds what another waits for. */
export interface LockHolder {
  readonly pid: number;
  readonly role: string;
  /** As it named itself; `unnamed` when it didn't. */
  readonly application: string;
}

/** Looks at who keeps a transaction waiting, for as long as it runs. */
export interface LockWatch {
  /** @returns who was seen last; empty when nobody kept it waiting when it was looked */
  stop(): readonly LockHolder[];
}

/** Looks often enough to see a wait before it is given up. */
const LOOKS_PER_TIMEOUT = 4;

export interface LockWatchOptions {
  /** For the looks, which need a connection of their own. */
  readonly database: Database;
  readonly transaction: Transaction;
  /** After which the transaction gives a wait up. Milliseconds. */
  readonly lockTimeoutMs: number;
  readonly logger: Logger;
}

/** Watches until stopped. */
export async function watchLockHolders(options: LockWatchOptions): Promise<LockWatch> {
  const { database, transaction, lockTimeoutMs, logger } = options;
  const [session] = await transaction.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  let seen: readonly LockHolder[] = [];
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const holders = await database.query<LockHolder>(HOLDERS_SQL, [session?.pid ?? 0]);
      if (holders.length > 0) seen = holders;
    } catch (error) {
      logger.debug({ error: errorText(error) }, 'Could not look who keeps a migration waiting');
    } finally {
      isLooking = false;
    }
  };
  // At once too: the connection that looks may have to be opened first, which takes a busy machine as long as a wait.
  void look();
  const timer = setInterval(() => void look(), lockTimeoutMs / LOOKS_PER_TIMEOUT);
  return {
    stop() {
      clearInterval(timer);
      return seen;
    },
  };
}

// Role and application of other roles' sessions are visible to everybody, unlike what they run.
const HOLDERS_SQL = `SELECT pid, coalesce(usename, '') AS role, coalesce(nullif(application_name, ''), 'unnamed') AS application
  FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1))`;
