import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@chainstead/core';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MIGRATIONS_FOLDER, migrate } from './migrate.ts';
import { openDatabase } from './open-database.ts';

describe('migrate', () => {
  let scratch: ScratchDatabase;
  let folder: string;

  beforeEach(async () => {
    scratch = await createScratchDatabase({ migrated: false });
    folder = await mkdtemp(join(tmpdir(), 'chainstead-migrations-'));
    await cp(MIGRATIONS_FOLDER, folder, { recursive: true });
  });
  afterEach(async () => {
    await scratch.drop();
    await rm(folder, { recursive: true, force: true });
  });

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

  test('an empty database gets every migration, and then none any more', async () => {
    expect((await migrate(scratch.database)).applied).toEqual(await journal());
    for (let again = 1; again <= 3; again += 1) expect((await migrate(scratch.database)).applied).toEqual([]);
    expect(await scratch.database.query('SELECT count(*) AS n FROM sync_chains')).toEqual([{ n: 0 }]);
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

  test('a migration that fails leaves nothing of itself, and can be mended', async () => {
    await migrate(scratch.database, { folder });
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

  test('an applied migration that was edited since is refused', async () => {
    await migrate(scratch.database, { folder });
    const [first] = await journal();
    await writeFile(join(folder, `${first}.sql`), 'SELECT 1;');
    await expect(migrate(scratch.database, { folder })).rejects.toMatchObject({
      code: 'MIGRATION_CHANGED',
      facts: { migration: first },
    });
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
