import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../sql.ts';
import { STORAGE_BY_WRITES, TABLE_WRITES } from './table-writes.ts';

interface Stored {
  readonly name: string;
  /** `fillfactor=90` and so on; null: Postgres' defaults. */
  readonly options: readonly string[] | null;
  readonly isPartitioned: boolean;
}

describe('every table has the storage of its kind of writes', () => {
  const scratch = scratchOfFile();
  let tables: readonly Stored[];

  beforeAll(async () => {
    tables = await scratch.database.query<Stored & Record<string, unknown>>(
      sql`SELECT relname AS name, reloptions AS options, relkind = 'p' AS "isPartitioned" FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
  });

  test('each table has a kind, and each kind a table', () => {
    expect(tables.map(({ name }) => name).toSorted()).toEqual(Object.keys(TABLE_WRITES).toSorted());
  });

  test('the migrations set the storage that the kind says', () => {
    const wrong = tables.filter(({ name, options, isPartitioned }) => !isPartitioned && !isAsSaid(name, options));
    expect(wrong).toEqual([]);
  });

  test('partitions have what the kind of their table says', async () => {
    const partitioned = tables.filter(({ isPartitioned }) => isPartitioned);
    expect(partitioned.length).toBeGreaterThan(0);
    for (const { name } of partitioned) {
      await scratch.database.query(sql`SELECT attach_partition(${name}::regclass, 1, 0, 100)`);
      const [part] = await scratch.database.query<{ options: readonly string[] | null }>(
        sql`SELECT reloptions AS options FROM pg_class JOIN pg_inherits ON inhrelid = oid WHERE inhparent = ${name}::regclass`,
      );
      expect([name, isAsSaid(name, part?.options ?? null)]).toEqual([name, true]);
    }
  });
});

function isAsSaid(name: string, options: readonly string[] | null): boolean {
  const said = Object.entries(STORAGE_BY_WRITES[TABLE_WRITES[name] ?? 'settings']).map(
    ([parameter, value]) => `${parameter}=${value}`,
  );
  return sorted(options ?? []).join() === sorted(said).join();
}

/** Returns the options that depend on writes, sorted; other options may vary by table. */
function sorted(options: readonly string[]): string[] {
  return options.filter((option) => /^(?:fillfactor|autovacuum_\w+_factor)=/.test(option)).toSorted();
}
