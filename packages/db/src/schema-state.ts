import type { Database } from './database.ts';
import { DatabaseError } from './database-error.ts';
import type { Migration } from './read-migrations.ts';

/**
 * Compares what a database was migrated with and what this program knows. Reads only, so that it works without the right to
 * create anything.
 * @returns the migrations that are still to be applied, in order
 * @throws {DatabaseError} SCHEMA_NEWER when the database has migrations that this program doesn't know; MIGRATION_CHANGED
 * when the text of an applied migration is no longer what was applied
 */
export async function pendingMigrations(
  database: Pick<Database, 'query'>,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const applied = await readApplied(database);
  refuseNewer(applied, migrations);
  const changed = migrations.filter(({ name, hash }) => applied.has(name) && applied.get(name) !== hash);
  if (changed.length > 0) throw changedMigrations(changed.map(({ name }) => name));
  return migrations.filter(({ name }) => !applied.has(name));
}

/**
 * Whether this program knows everything that the database was migrated with. Reads only.
 * @throws {DatabaseError} SCHEMA_NEWER
 */
export async function refuseNewerSchema(
  database: Pick<Database, 'query'>,
  migrations: readonly Migration[],
): Promise<void> {
  refuseNewer(await readApplied(database), migrations);
}

function refuseNewer(applied: ReadonlyMap<string, string>, migrations: readonly Migration[]): void {
  const names = new Set(migrations.map(({ name }) => name));
  const unknown = [...applied.keys()].filter((name) => !names.has(name));
  if (unknown.length > 0) throw newerSchema(unknown);
}

/** Hashes by name, in the order of application. */
async function readApplied(database: Pick<Database, 'query'>): Promise<ReadonlyMap<string, string>> {
  const [found] = await database.query<{ exists: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS exists",
  );
  if (found?.exists !== true) return new Map();
  const rows = await database.query<{ name: string; hash: string }>(
    'SELECT name, hash FROM schema_migrations ORDER BY applied_at, name',
  );
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

function newerSchema(unknown: readonly string[]): DatabaseError {
  return new DatabaseError({
    code: 'SCHEMA_NEWER',
    message: `The database was migrated by a newer version of this program: it has ${unknown.join(', ')}, which this version does not know`,
    facts: { migrations: unknown },
    remedy: 'Run the newer version, or restore a backup from before the upgrade: migrations are not undone',
    retryable: false,
  });
}

function changedMigrations(names: readonly string[]): DatabaseError {
  const differ = names.length === 1 ? `Migration ${names[0]} differs` : `Migrations ${names.join(', ')} differ`;
  return new DatabaseError({
    code: 'MIGRATION_CHANGED',
    message: `${differ} from the text that this database was migrated with`,
    facts: { migrations: names },
    remedy:
      'Restore the file if it was edited here, and put the change into a new migration. A database of an unreleased version cannot be upgraded: give this version an empty database (DATABASE_URL, DATA_DIR), which it fills from the chains',
    retryable: false,
  });
}
