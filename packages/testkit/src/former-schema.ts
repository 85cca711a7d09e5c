import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, MIGRATIONS_FOLDER, migrate } from '@chainstead/db';
import { TestkitError } from './testkit-error.ts';

/** Gives an empty database the schema of before a migration: `0019_partitioned_transfers`. @throws TestkitError where there is no such migration */
export async function migrateBefore(database: Database, name: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-migrations-'));
  try {
    await cp(MIGRATIONS_FOLDER, folder, { recursive: true });
    const path = join(folder, 'meta/_journal.json');
    const journal: { entries: { tag: string }[] } = JSON.parse(await readFile(path, 'utf8'));
    const end = journal.entries.findIndex(({ tag }) => tag === name);
    if (end < 0) throw new TestkitError(`There is no migration ${name}`);
    await writeFile(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, end) }));
    await migrate(database, { folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
