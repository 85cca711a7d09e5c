import { sql } from '../sql.ts';
import type { Database } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Read-only. @throws {DatabaseError} SCHEMA_NEWER (unknown migrations), MIGRATION_CHANGED */
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

/** @throws {DatabaseError} SCHEMA_NEWER */
export async function refuseNewerSchema(database: Pick<Database, 'query'>, migrations: readonly Migration[]) {
  refuseNewer(await readApplied(database), migrations);
}

function refuseNewer(applied: ReadonlyMap<string, string>, migrations: readonly Migration[]): void {
  const names = new Set(migrations.map(({ name }) => name));
  const unknown = [...applied.keys()].filter((name) => !names.has(name));
  if (unknown.length > 0) throw newerSchema(unknown);
}

async function readApplied(database: Pick<Database, 'query'>): Promise<ReadonlyMap<string, string>> {
  if (!(await hasMigrationsTable(database))) return new Map();
  const rows = await database.query<{ name: string; hash: string }>(
    sql`SELECT name, hash FROM schema_migrations ORDER BY applied_at, name`,
  );
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

export async function hasMigrationsTable(database: Pick<Database, 'query'>): Promise<boolean> {
  const [table] = await database.query<{ exists: boolean }>(
    sql`SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`,
  );
  return table?.exists === true;
}
function newerSchema(unknown: readonly string[]): DatabaseError {
  return new DatabaseError({
    code: 'SCHEMA_NEWER',
    message: `A newer version of Chainstead migrated the database: it has ${unknown.join(', ')}, which this version does not have`,
    facts: { migrations: unknown },
    remedy: 'Run the newer version, or restore a backup from before the upgrade. Migrations cannot be undone',
    retryable: false,
  });
}

function changedMigrations(names: readonly string[]): DatabaseError {
  const differ = names.length === 1 ? `Migration ${names[0]} differs` : `Migrations ${names.join(', ')} differ`;
  return new DatabaseError({
    code: 'MIGRATION_CHANGED',
    message: `${differ} from the version applied to this database`,
    facts: { migrations: names },
    remedy:
      'If you edited the file, restore it and put the change into a new migration. If the database is from an unreleased version, set DATABASE_URL or DATA_DIR to an empty database. Chainstead fills it from the chains',
    retryable: false,
  });
}

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../../../migrations', import.meta.url));

export interface Migration {
  readonly name: string;
  readonly text: string;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

/** Paths in the order of their numbers. */
export async function listMigrationFiles(folder: string = MIGRATIONS_FOLDER): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql'));
  return files.toSorted().map((name) => join(folder, name));
}

export async function readMigrations(folder: string): Promise<Migration[]> {
  return Promise.all(
    (await listMigrationFiles(folder)).map(async (path) => {
      const text = await readFile(path, 'utf8');
      return { name: basename(path, '.sql'), text, hash: createHash('sha256').update(text).digest('hex') };
    }),
  );
}
