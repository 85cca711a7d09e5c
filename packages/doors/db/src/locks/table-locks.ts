/**
 * Statements that lock tables against readers or writers run alone, with a short wait: every later
 * statement on the table waits behind them, commits too.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { defineError } from '@chainstead/core';
import { queryOn } from '../connections/query-on.ts';
import type { Database } from '../database.ts';
import { rawSql, type Sql, sql } from '../sql.ts';

export type RunStatement = (statement: Sql) => Promise<void>;

/** A tenth of the time that a chain may stand still. */
export const TABLE_LOCK_WAIT_MS = 1_000;

export class TablesHeldError extends defineError(
  'TABLES_HELD',
  (tables: string, waitedMs: number, cause: unknown) => ({
    message: `Other sessions held a lock on ${tables} for ${Math.ceil(waitedMs / 1_000)} s`,
    facts: { tables, waited_ms: Math.ceil(waitedMs) },
    remedy:
      'Run the command again when their transactions have ended: it continues. To find them, list pg_locks and pg_stat_activity',
    retryable: true,
    cause,
  }),
) {}

export interface TableLockOptions {
  /** For the error. */
  readonly tables: string;
  /** Limit per statement; 0: unlimited. @default TABLE_LOCK_WAIT_MS */
  readonly lockWaitMs?: number | undefined;
  /** 0: one attempt. */
  readonly giveUpAfterMs: number;
}

/**
 * Outside the pool and any transaction: `DETACH … CONCURRENTLY` can't be in one. An attempt that
 * waits too long for a lock is repeated, from its start.
 * @throws {TablesHeldError} after `giveUpAfterMs`
 */
export async function withPatientSession<T>(
  database: Pick<Database, 'session'>,
  { tables, lockWaitMs = TABLE_LOCK_WAIT_MS, giveUpAfterMs }: TableLockOptions,
  work: (run: RunStatement) => Promise<T>,
): Promise<T> {
  const session = database.session();
  await session.connect();
  try {
    // Invariant: DB-SHORT-LOCKS
    await queryOn(session, sql`SET lock_timeout = ${rawSql(lockWaitMs)}`);
    const run: RunStatement = async (statement) => {
      await queryOn(session, statement);
    };
    return await repeatWhileLocked(() => work(run), { isLocked: isLockedOut, giveUpAfterMs, onGiveUp });
  } finally {
    await session.end();
  }

  function onGiveUp(error: unknown, waitedMs: number): Error {
    return new TablesHeldError(tables, waitedMs, error);
  }
}

interface RepeatOptions {
  isLocked(error: unknown): boolean;
  readonly giveUpAfterMs: number;
  onPause?(attempt: number, pauseMs: number): void;
  /** @returns the error to throw */
  onGiveUp(error: unknown, waitedMs: number): Error;
}

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 10_000;

/** Between attempts, the statements behind them proceed. */
export async function repeatWhileLocked<T>(attempt: () => Promise<T>, options: RepeatOptions): Promise<T> {
  const startedAt = performance.now();
  for (let made = 1; ; made += 1)
    try {
      return await attempt();
    } catch (error) {
      if (!options.isLocked(error)) throw error;
      const waitedMs = performance.now() - startedAt;
      if (waitedMs >= options.giveUpAfterMs) throw options.onGiveUp(error, waitedMs);
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (made - 1), PAUSE_MS_MAX);
      options.onPause?.(made, pauseMs);
      await delay(pauseMs);
    }
}

const SQLSTATE_LOCK_NOT_AVAILABLE = '55P03';
const SQLSTATE_DEADLOCK_DETECTED = '40P01';

export function isLockedOut(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === SQLSTATE_LOCK_NOT_AVAILABLE || code === SQLSTATE_DEADLOCK_DETECTED;
}
