import { sql, rawSql } from '../sql.ts';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createLogger, silentLogger } from '@chainstead/core';
import { copyMigrations, createScratchDatabase, type MigrationsCopy, type ScratchDatabase } from '@chainstead/testkit';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { checkSchema, migrate } from './migrate.ts';
import { listMigrationFiles } from './schema-state.ts';
import { openDatabase } from '../open-database.ts';

let scratch: ScratchDatabase;
let copy: MigrationsCopy;

/** Creates a database and an editable copy of the migrations for each test of a group. */
function openBeforeEach(options: { readonly migrated: boolean }): void {
  beforeEach(async () => {
    scratch = await createScratchDatabase(options);
    copy = await copyMigrations();
  });
  afterEach(async () => {
    await scratch.drop();
    await copy.remove();
  });
}

async function names(): Promise<string[]> {
  return (await listMigrationFiles()).map((path) => basename(path, '.sql'));
}

describe('a database without a schema', () => {
  openBeforeEach({ migrated: false });

  test('gets every migration, and then none any more', async () => {
    expect((await migrate(scratch.database)).applied).toEqual(await names());
    for (let again = 1; again <= 3; again += 1) expect((await migrate(scratch.database)).applied).toEqual([]);
    expect(await scratch.database.query(sql`SELECT count(*) AS n FROM sync_chains`)).toEqual([{ n: 0 }]);
  });

  // Invariant: DB-MIGRATE-ONCE
  test('four processes at once apply each migration once', async () => {
    const databases = Array.from({ length: 4 }, (_, index) =>
      openDatabase({ url: scratch.url, applicationName: `migrate-${index}`, logger: silentLogger() }),
    );
    const results = await Promise.all(databases.map((database) => migrate(database)));
    expect(results.flatMap(({ applied }) => applied).toSorted()).toEqual((await names()).toSorted());
    await Promise.all(databases.map((database) => database.close()));
  });

  test('the folder is found from anywhere', async () => {
    const before = process.cwd();
    process.chdir(tmpdir());
    try {
      expect((await migrate(scratch.database)).applied).toEqual(await names());
    } finally {
      process.chdir(before);
    }
  });
});

describe('a database with the schema of today', () => {
  openBeforeEach({ migrated: true });

  // Invariant: DB-MIGRATE-ONCE
  test('gets nothing of a migration that fails, which can be mended', async () => {
    await copy.write('9998_good', 'CREATE TABLE good (id int PRIMARY KEY);');
    await copy.write('9999_bad', 'CREATE TABLE bad (id int);--> statement-breakpoint\nSELECT 1/0;');
    await expect(migrate(scratch.database, { folder: copy.folder })).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      facts: { migration: '9999_bad', statement: 'SELECT 1/0;' },
    });
    expect(
      await scratch.database.query(sql`SELECT to_regclass('good') IS NOT NULL AS good, to_regclass('bad') AS bad`),
    ).toEqual([{ good: true, bad: null }]);
    await copy.write('9999_bad', '-- nothing to do any more');
    expect((await migrate(scratch.database, { folder: copy.folder })).applied).toEqual(['9999_bad']);
  });

  test('is refused where a migration was edited since', async () => {
    const [first = ''] = await names();
    await copy.write(first, 'SELECT 1;');
    await expect(migrate(scratch.database, { folder: copy.folder })).rejects.toMatchObject({
      code: 'MIGRATION_CHANGED',
      facts: { migrations: [first] },
    });
  });

  test('that a newer program migrated is refused by the names that it has more', async () => {
    await copy.write('9999_future', 'SELECT 1;');
    await migrate(scratch.database, { folder: copy.folder });
    await expect(migrate(scratch.database)).rejects.toMatchObject({
      code: 'SCHEMA_NEWER',
      message: expect.stringContaining('9999_future'),
    });
    await expect(checkSchema(scratch.database)).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
  });

  test('asks for no rights but to read', async () => {
    const role = `reads_only_${new URL(scratch.url).pathname.split('_').at(-1)}`;
    await scratch.database.query(sql`CREATE ROLE ${rawSql(role)} LOGIN PASSWORD 'x'`);
    await scratch.database.query(sql`GRANT SELECT ON schema_migrations TO ${rawSql(role)}`);
    const url = new URL(scratch.url);
    url.username = role;
    url.password = 'x';
    const restricted = openDatabase({ url: url.href, applicationName: 'restricted', logger: silentLogger() });
    try {
      expect((await migrate(restricted, { folder: copy.folder })).applied).toEqual([]);
    } finally {
      await restricted.close();
      await scratch.database.query(sql`DROP OWNED BY ${rawSql(role)}`);
      await scratch.database.query(sql`DROP ROLE ${rawSql(role)}`);
    }
  });

  test('while a reader holds its table, a migration lets other queries pass and names the reader', async () => {
    await copy.write('9999_altered', 'ALTER TABLE tokens ADD COLUMN altered int;');
    const analyst = new Client({ connectionString: scratch.url, application_name: 'analyst' });
    await analyst.connect();
    const waits: unknown[] = [];
    const logger = createLogger({ level: 'warn', destination: { write: (line) => waits.push(JSON.parse(line)) } });
    let migrating: Promise<unknown> | undefined;
    try {
      await analyst.query('BEGIN');
      await analyst.query('SELECT count(*) FROM tokens');
      migrating = migrate(scratch.database, { folder: copy.folder, lockTimeoutMs: 200, logger });
      for (let count = 1; count <= 2; count += 1) {
        await vi.waitFor(() => expect(waits.length).toBeGreaterThanOrEqual(count));
        expect(await scratch.database.query(sql`SELECT count(*) AS n FROM tokens`)).toEqual([{ n: 0 }]);
      }
      // Not necessarily in the first wait: on a slow machine, the check for holders may come after the lock timeout.
      await vi.waitFor(() =>
        expect(waits).toContainEqual(
          expect.objectContaining({
            migration: '9999_altered',
            held_by: [{ application: 'analyst', role: new URL(scratch.url).username, pid: expect.any(Number) }],
          }),
        ),
      );
      await analyst.query('COMMIT');
      expect(await migrating).toEqual({ applied: ['9999_altered'] });
    } finally {
      await analyst.end();
      // Migrating must have ended, successfully or not, before the database is dropped.
      await Promise.allSettled([migrating]);
    }
  });

  test('a migration that never gets its table gives up and names who holds it', async () => {
    await copy.write('9999_altered', 'ALTER TABLE tokens ADD COLUMN altered int;');
    const analyst = new Client({ connectionString: scratch.url, application_name: 'analyst' });
    await analyst.connect();
    try {
      await analyst.query('BEGIN');
      await analyst.query('SELECT count(*) FROM tokens');
      await expect(
        migrate(scratch.database, { folder: copy.folder, lockTimeoutMs: 2000, giveUpAfterMs: 0 }),
      ).rejects.toMatchObject({
        code: 'MIGRATION_BLOCKED',
        message: expect.stringContaining('analyst'),
      });
    } finally {
      await analyst.end();
    }
  });
});
