/** A database that stands before some migration, gets rows, and is then migrated to the end. */
import {
  type Closable,
  closeOf,
  createScratchDatabase,
  migrateBefore,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { migrate } from '../migrate.ts';

export interface MigrationStage extends Closable {
  readonly scratch: ScratchDatabase;
  /** Applies the migrations before this one, runs the statements, and applies the rest. */
  migrateThrough(tag: string, statements: readonly string[]): Promise<void>;
  /** Tables, views and indexes whose names begin so, each with its kind in `pg_class`. */
  relations(prefix: string): Promise<readonly string[]>;
}

export async function openMigrationStage(): Promise<MigrationStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase({ migrated: false }), (one) => one.drop());
  return {
    scratch,
    async migrateThrough(tag, statements) {
      await migrateBefore(scratch.database, tag);
      for (const statement of statements) await scratch.database.query(statement);
      await migrate(scratch.database);
    },
    async relations(prefix) {
      const rows = await scratch.database.query<{ text: string }>(
        `SELECT relname || ' ' || relkind::text AS text FROM pg_class
          WHERE starts_with(relname, $1) AND relnamespace = 'public'::regnamespace ORDER BY relname`,
        [prefix],
      );
      return rows.map(({ text }) => text);
    },
    ...closeOf(parts),
  };
}
