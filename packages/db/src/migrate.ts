import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorText } from '@chainstead/core';
import { advisoryKey, transactionLock } from './advisory-lock.ts';
import type { Database, Transaction } from './database.ts';
import { DatabaseError } from './database-error.ts';
import { checkServer } from './server-check.ts';

/** The repository's migrations folder, wherever the program was started. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../migrations', import.meta.url));

export interface MigrateOptions {
  /** A folder as drizzle-kit writes it: `NNNN_name.sql` and `meta/_journal.json`. @default MIGRATIONS_FOLDER */
  readonly folder?: string;
}

/**
 * Brings the schema up to date: each migration of the folder in a transaction of its own, in journal order, recorded in
 * `schema_migrations`. Several processes may call it at once: one works, the others wait and find nothing left to do.
 * @returns the names that this call applied
 * @throws {DatabaseError} MIGRATION_FAILED; MIGRATION_CHANGED when an applied file's text is no longer what was applied;
 * and whatever {@link checkServer} throws
 */
export async function migrate(
  database: Database,
  options: MigrateOptions = {},
): Promise<{ applied: readonly string[] }> {
  await checkServer(database);
  const migrations = await readMigrations(options.folder ?? MIGRATIONS_FOLDER);
  const applied: string[] = [];
  for (const migration of migrations) {
    if (await database.transaction((transaction) => applyOnce(transaction, migration))) applied.push(migration.name);
  }
  return { applied };
}

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    await readFile(join(folder, 'meta/_journal.json'), 'utf8'),
  );
  return Promise.all(
    journal.entries.map(async ({ tag }) => {
      const text = await readFile(join(folder, `${tag}.sql`), 'utf8');
      return { name: tag, text, hash: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

async function applyOnce(transaction: Transaction, migration: Migration): Promise<boolean> {
  // The lock comes first: CREATE TABLE IF NOT EXISTS by two sessions at once can fail on the catalog's own unique index.
  await transactionLock(transaction, advisoryKey('migrations', 0));
  await transaction.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations
       (name text PRIMARY KEY, hash text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
  const [known] = await transaction.query<{ hash: string }>('SELECT hash FROM schema_migrations WHERE name = $1', [
    migration.name,
  ]);
  if (known !== undefined) {
    if (known.hash !== migration.hash) throw changedMigration(migration.name);
    return false;
  }
  for (const statement of migration.text.split('--> statement-breakpoint')) {
    try {
      // Through the simple protocol, so that a piece may hold comments only or several statements.
      await transaction.client.query(statement);
    } catch (error) {
      throw failedMigration(migration.name, statement, error);
    }
  }
  await transaction.query('INSERT INTO schema_migrations (name, hash) VALUES ($1, $2)', [
    migration.name,
    migration.hash,
  ]);
  return true;
}

function changedMigration(name: string): DatabaseError {
  return new DatabaseError({
    code: 'MIGRATION_CHANGED',
    message: `Migration ${name} differs from the text that this database was migrated with`,
    facts: { migration: name },
    remedy: 'Released migrations are never edited: restore the file, and put the change into a new migration',
    retryable: false,
  });
}

function failedMigration(name: string, statement: string, cause: unknown): DatabaseError {
  return new DatabaseError({
    code: 'MIGRATION_FAILED',
    message: `Migration ${name} failed: ${errorText(cause)}`,
    facts: { migration: name, statement: statement.trim().slice(0, 500) },
    remedy: 'Nothing of this migration was kept; migrations before it are applied. Fix the cause and start again',
    retryable: false,
    cause,
  });
}
