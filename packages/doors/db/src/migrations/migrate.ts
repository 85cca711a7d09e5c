import { sql, rawSql } from '../sql.ts';
import { errorText, type Logger, silentLogger } from '@chainstead/core';
import type { Database, Transaction } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { type LockHolder, watchLockHolders } from '../locks/leadership.ts';
import { isLockedOut, repeatWhileLocked } from '../locks/table-locks.ts';
import { MIGRATIONS_FOLDER, type Migration, readMigrations, hasMigrationsTable, pendingMigrations, refuseNewerSchema } from './schema-state.ts';
import { checkServer } from '../server/examine-server.ts';

export interface MigrateOptions {
  /** `NNNN_name.sql` with `--> statement-breakpoint`. @default MIGRATIONS_FOLDER */
  readonly folder?: string;
  /** For sessions that block a migration. @default silent */
  readonly logger?: Logger;
  /** A statement's wait for a lock, with all queries behind it. @default 2000 */
  readonly lockTimeoutMs?: number;
  /** For retries of one migration. @default 600000 */
  readonly giveUpAfterMs?: number;
}

/** While a migration waits, later queries on its table wait; between attempts they proceed. */
const LOCK_TIMEOUT_MS = 2_000;
const GIVE_UP_AFTER_MS = 600_000;

/**
 * Each in its own transaction; safe to run concurrently. @returns names applied by this call
 * @throws {DatabaseError} MIGRATION_FAILED, MIGRATION_BLOCKED (no lock in `giveUpAfterMs`),
 * MIGRATION_CHANGED, SCHEMA_NEWER, and those of {@link checkServer}
 */
export async function migrate(
  database: Database,
  options: MigrateOptions = {},
): Promise<{ applied: readonly string[] }> {
  await checkServer(database);
  const pending = await pendingMigrations(database, await readMigrations(options.folder ?? MIGRATIONS_FOLDER));
  if (pending.length > 0) await createMigrationsTable(database);
  const applied: string[] = [];
  for (const migration of pending)
    if (await applyPatiently(database, migration, options)) applied.push(migration.name);
  return { applied };
}

/** @throws {DatabaseError} SCHEMA_NEWER if the database has unknown migrations */
export async function checkSchema(database: Database): Promise<void> {
  await refuseNewerSchema(database, await readMigrations(MIGRATIONS_FOLDER));
}

async function createMigrationsTable(database: Database): Promise<void> {
  try {
    await database.query(
      sql`CREATE TABLE IF NOT EXISTS schema_migrations
         (name text PRIMARY KEY, hash text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
  } catch (error) {
    // Two sessions may create it: one fails on the catalog's index.
    if (!(await hasMigrationsTable(database))) throw error;
  }
}

async function applyPatiently(database: Database, migration: Migration, options: MigrateOptions): Promise<boolean> {
  const { lockTimeoutMs = LOCK_TIMEOUT_MS, giveUpAfterMs = GIVE_UP_AFTER_MS, logger = silentLogger() } = options;
  let holders: readonly LockHolder[] = [];
  const attempt = () =>
    database.transaction(async (transaction) => {
      holders = [];
      const watch = await watchLockHolders({ database, transaction, lockTimeoutMs, logger });
      try {
        return await applyOnce(transaction, migration, lockTimeoutMs);
      } finally {
        holders = watch.stop();
      }
    });
  return repeatWhileLocked(attempt, {
    giveUpAfterMs,
    isLocked: (error) =>
      error instanceof DatabaseError && error.code === 'MIGRATION_FAILED' && isLockedOut(error.cause),
    onPause: (made, pauseMs) =>
      logger.warn(
        { migration: migration.name, attempt: made, delay_ms: pauseMs, held_by: holders },
        'Migration waits for a table that another session holds, trying it again',
      ),
    onGiveUp: (error) => blockedMigration(migration.name, holders, error),
  });
}

async function applyOnce(transaction: Transaction, migration: Migration, lockTimeoutMs: number): Promise<boolean> {
  // A role's or pooler's timeouts must not end migrations.
  await transaction.query(sql`SET LOCAL statement_timeout = 0`);
  await transaction.query(sql`SET LOCAL idle_in_transaction_session_timeout = 0`);
  await transaction.query(sql`SET LOCAL lock_timeout = 0`);
  // Citus can't change a table in parallel together with a reference table.
  await transaction.query(
    sql`SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true) FROM pg_extension WHERE extname = 'citus'`,
  );
  // Serializes migrations. Any role could delay a table lock.
  const added = await transaction.query(
    sql`INSERT INTO schema_migrations (name, hash) VALUES (${migration.name}, ${migration.hash}) ON CONFLICT DO NOTHING RETURNING name`,
  );
  // Invariant: DB-MIGRATE-ONCE
  if (added.length === 0) return false;
  await transaction.query(sql`SET LOCAL lock_timeout = ${rawSql(Math.ceil(lockTimeoutMs))}`);
  for (const statement of migration.text.split('--> statement-breakpoint')) {
    try {
      // The simple protocol allows several statements, or only comments.
      await transaction.client.query(statement);
    } catch (error) {
      throw failedMigration(migration.name, statement, error);
    }
  }
  return true;
}

function failedMigration(name: string, statement: string, cause: unknown): DatabaseError {
  return new DatabaseError({
    code: 'MIGRATION_FAILED',
    message: `Migration ${name} failed: ${errorText(cause)}`,
    facts: { migration: name, statement: statement.trim().slice(0, 500) },
    remedy: 'Fix the cause and restart. This migration was rolled back, earlier ones are applied',
    retryable: false,
    cause,
  });
}

function blockedMigration(name: string, holders: readonly LockHolder[], cause: unknown): DatabaseError {
  const who = holders.map(({ pid, role, application }) => `pid ${pid} (${role}, ${application})`).join(', ');
  return new DatabaseError({
    code: 'MIGRATION_BLOCKED',
    message: `Migration ${name} could not lock its tables. The locks are held by ${who === '' ? 'other sessions' : who}`,
    facts: { migration: name, held_by: holders },
    remedy: 'Wait until these sessions end, or end them with SELECT pg_terminate_backend(pid), then restart',
    retryable: true,
    cause,
  });
}
