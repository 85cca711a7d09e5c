/** A database that stands before some migration, gets rows, and is then migrated to the end. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { MIGRATIONS_FOLDER, migrate } from '../migrate.ts';

export interface MigrationStage {
  readonly scratch: ScratchDatabase;
  /** Applies the migrations before this one, runs the statements, and applies the rest. */
  migrateThrough(tag: string, statements: readonly string[]): Promise<void>;
  /** Tables, views and indexes whose names begin so, each with its kind in `pg_class`. */
  relations(prefix: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function openMigrationStage(): Promise<MigrationStage> {
  const scratch = await createScratchDatabase({ migrated: false });
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-migrations-'));
  await cp(MIGRATIONS_FOLDER, folder, { recursive: true });
  return {
    scratch,
    async migrateThrough(tag, statements) {
      const path = join(folder, 'meta/_journal.json');
      const all = await readFile(path, 'utf8');
      const parsed: { entries: { tag: string }[] } = JSON.parse(all);
      const end = parsed.entries.findIndex((entry) => entry.tag === tag);
      await writeFile(path, JSON.stringify({ ...parsed, entries: parsed.entries.slice(0, end) }));
      await migrate(scratch.database, { folder });
      for (const statement of statements) await scratch.database.query(statement);
      await writeFile(path, all);
      await migrate(scratch.database, { folder });
    },
    async relations(prefix) {
      const rows = await scratch.database.query<{ text: string }>(
        `SELECT relname || ' ' || relkind::text AS text FROM pg_class
          WHERE starts_with(relname, $1) AND relnamespace = 'public'::regnamespace ORDER BY relname`,
        [prefix],
      );
      return rows.map(({ text }) => text);
    },
    async close() {
      await scratch.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
