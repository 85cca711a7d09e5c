import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, silentLogger } from '@chainstead/core';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { checkSchema, MIGRATIONS_FOLDER, migrate } from './migrate.ts';
import { openDatabase } from './open-database.ts';

let scratch: ScratchDatabase;
let folder: string;

/** A database for each test of a group, and a copy of the migrations that it may change. */
function openBeforeEach(options: { readonly migrated: boolean }): void {
  beforeEach(async () => {
    scratch = await createScratchDatabase(options);
    folder = await mkdtemp(join(tmpdir(), 'chainstead-migrations-'));
    await cp(MIGRATIONS_FOLDER, folder, { recursive: true });
  });
  afterEach(async () => {
    await scratch.drop();
    await rm(folder, { recursive: true, force: true });
  });
}

async function journal(): Promise<string[]> {
  const text = await readFile(join(MIGRATIONS_FOLDER, 'meta/_journal.json'), 'utf8');
  const parsed: { entries: { tag: string }[] } = JSON.parse(text);
  return parsed.entries.map(({ tag }) => tag);
}
async function addMigration(name: string, text: string): Promise<void> {
  const path = join(folder, 'meta/_journal.json');
  const parsed: { entries: { tag: string }[] } = JSON.parse(await readFile(path, 'utf8'));
  parsed.entries.push({ tag: name });
  await writeFile(path, JSON.stringify(parsed));
  await writeFile(join(folder, `${name}.sql`), text);
}

describe('a database without a schema', () => {
  openBeforeEach({ migrated: false });

  test('gets every migration, and then none any more', async () => {
    expect((await migrate(scratch.database)).applied).toEqual(await journal());
    for (let again = 1; again <= 3; again += 1) expect((await migrate(scratch.database)).applied).toEqual([]);
    expect(await scratch.database.query('SELECT count(*) AS n FROM sync_chains')).toEqual([{ n: 0 }]);
  });

  test('what was derived of the chains before it had versions counts as built', async () => {
    const path = join(folder, 'meta/_journal.json');
    const all = await readFile(path, 'utf8');
    const parsed: { entries: { tag: string }[] } = JSON.parse(all);
    const before = parsed.entries.slice(0, (await journal()).indexOf('0016_derived_states'));
    await writeFile(path, JSON.stringify({ ...parsed, entries: before }));
    await migrate(scratch.database, { folder });
    await scratch.database.query(
      'INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (1, 0, 1), (5, 0, 1)',
    );
    await scratch.database.query(
      "INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (1, 'a', 0, 1, 'none'), (7, 'a', 0, 1, 'none')",
    );
    await writeFile(path, all);
    await migrate(scratch.database, { folder });
    expect(
      await scratch.database.query(
        'SELECT array_agg(chain_id ORDER BY chain_id) AS chains, state, dataset, version, status FROM derived_states GROUP BY state, dataset, version, status ORDER BY state',
      ),
    ).toEqual([
      { chains: [1, 5, 7], state: 'nft-metadata-due', dataset: 'nft-metadata-events', version: 1, status: 'built' },
      { chains: [1, 5, 7], state: 'nft-sale-days', dataset: 'nft-trades', version: 1, status: 'built' },
    ]);
  });

  test('tokens from before NFTs were indexed count as seen in ERC-20 transfers', async () => {
    const path = join(folder, 'meta/_journal.json');
    const all = await readFile(path, 'utf8');
    const parsed: { entries: { tag: string }[] } = JSON.parse(all);
    const before = parsed.entries.slice(0, (await journal()).indexOf('0003_nfts'));
    await writeFile(path, JSON.stringify({ ...parsed, entries: before }));
    await migrate(scratch.database, { folder });
    await scratch.database.query('INSERT INTO tokens (address, chain_id) VALUES (decode($1, $2), 1)', [
      'ab'.repeat(20),
      'hex',
    ]);
    await writeFile(path, all);
    await migrate(scratch.database, { folder });
    await scratch.database.query('INSERT INTO tokens (address, chain_id) VALUES (decode($1, $2), 1)', [
      'cd'.repeat(20),
      'hex',
    ]);
    expect(await scratch.database.query('SELECT seen_as FROM tokens ORDER BY address')).toEqual([
      { seen_as: 1 },
      { seen_as: 0 },
    ]);
  });

  test('four processes at once apply each migration once', async () => {
    const databases = Array.from({ length: 4 }, (_, index) =>
      openDatabase({ url: scratch.url, applicationName: `migrate-${index}`, logger: silentLogger() }),
    );
    const results = await Promise.all(databases.map((database) => migrate(database)));
    expect(results.flatMap(({ applied }) => applied).toSorted()).toEqual((await journal()).toSorted());
    await Promise.all(databases.map((database) => database.close()));
  });

  test('the folder is found from anywhere', async () => {
    const before = process.cwd();
    process.chdir(tmpdir());
    try {
      expect((await migrate(scratch.database)).applied).toEqual(await journal());
    } finally {
      process.chdir(before);
    }
  });
});

describe('a database with the schema of today', () => {
  openBeforeEach({ migrated: true });

  test('gets nothing of a migration that fails, which can be mended', async () => {
    await addMigration('9998_good', 'CREATE TABLE good (id int PRIMARY KEY);');
    await addMigration('9999_bad', 'CREATE TABLE bad (id int);--> statement-breakpoint\nSELECT 1/0;');
    await expect(migrate(scratch.database, { folder })).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      facts: { migration: '9999_bad', statement: 'SELECT 1/0;' },
    });
    expect(
      await scratch.database.query("SELECT to_regclass('good') IS NOT NULL AS good, to_regclass('bad') AS bad"),
    ).toEqual([{ good: true, bad: null }]);
    await writeFile(join(folder, '9999_bad.sql'), '-- nothing to do any more');
    expect((await migrate(scratch.database, { folder })).applied).toEqual(['9999_bad']);
  });

  test('is refused where a migration was edited since', async () => {
    const [first] = await journal();
    await writeFile(join(folder, `${first}.sql`), 'SELECT 1;');
    await expect(migrate(scratch.database, { folder })).rejects.toMatchObject({
      code: 'MIGRATION_CHANGED',
      facts: { migrations: [first] },
    });
  });

  test('that a newer program migrated is refused by the names that it has more', async () => {
    await addMigration('9999_future', 'SELECT 1;');
    await migrate(scratch.database, { folder });
    await expect(migrate(scratch.database)).rejects.toMatchObject({
      code: 'SCHEMA_NEWER',
      message: expect.stringContaining('9999_future'),
    });
    await expect(checkSchema(scratch.database)).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
  });

  test('asks for no rights but to read', async () => {
    const role = `reads_only_${scratch.url.split('_').at(-1)}`;
    await scratch.database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
    await scratch.database.query(`GRANT SELECT ON schema_migrations TO ${role}`);
    const url = new URL(scratch.url);
    url.username = role;
    url.password = 'x';
    const restricted = openDatabase({ url: url.href, applicationName: 'restricted', logger: silentLogger() });
    try {
      expect((await migrate(restricted, { folder })).applied).toEqual([]);
    } finally {
      await restricted.close();
      await scratch.database.query(`DROP OWNED BY ${role}`);
      await scratch.database.query(`DROP ROLE ${role}`);
    }
  });

  test('while a reader holds its table, a migration lets other queries pass and names the reader', async () => {
    await addMigration('9999_altered', 'ALTER TABLE tokens ADD COLUMN altered int;');
    const analyst = new Client({ connectionString: scratch.url, application_name: 'analyst' });
    await analyst.connect();
    const waits: unknown[] = [];
    const logger = createLogger({ level: 'warn', destination: { write: (line) => waits.push(JSON.parse(line)) } });
    let migrating: Promise<unknown> | undefined;
    try {
      await analyst.query('BEGIN');
      await analyst.query('SELECT count(*) FROM tokens');
      migrating = migrate(scratch.database, { folder, lockTimeoutMs: 200, logger });
      for (let count = 1; count <= 2; count += 1) {
        await vi.waitFor(() => expect(waits.length).toBeGreaterThanOrEqual(count));
        expect(await scratch.database.query('SELECT count(*) AS n FROM tokens')).toEqual([{ n: 0 }]);
      }
      // Not of the first wait for sure: a machine that stalls may not look at who holds the table before it is given up.
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
      // Whatever has failed: nothing migrates any longer when the database is taken away.
      await Promise.allSettled([migrating]);
    }
  });

  test('a migration that never gets its table gives up and names who holds it', async () => {
    await addMigration('9999_altered', 'ALTER TABLE tokens ADD COLUMN altered int;');
    const analyst = new Client({ connectionString: scratch.url, application_name: 'analyst' });
    await analyst.connect();
    try {
      await analyst.query('BEGIN');
      await analyst.query('SELECT count(*) FROM tokens');
      await expect(migrate(scratch.database, { folder, lockTimeoutMs: 2000, giveUpAfterMs: 0 })).rejects.toMatchObject({
        code: 'MIGRATION_BLOCKED',
        message: expect.stringContaining('analyst'),
      });
    } finally {
      await analyst.end();
    }
  });
});
