import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { sql } from '../sql.ts';
import { TABLE_PLACEMENTS } from './table-placements.ts';

describe('every table has a place on a cluster of Citus', () => {
  const scratch = scratchOfFile();

  const distributed = Object.entries(TABLE_PLACEMENTS).flatMap(([table, placement]) =>
    placement?.kind === 'distributed' ? [{ table, ...placement }] : [],
  );

  test('each table of the catalog has one, and no other', async () => {
    const tables = await scratch.database.query<{ name: string }>(
      sql`SELECT relname AS name FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
    expect(tables.map(({ name }) => name).toSorted()).toEqual(Object.keys(TABLE_PLACEMENTS).toSorted());
  });

  test('tables of a group are distributed by columns of one type, which are stored as they come', async () => {
    const columns = await scratch.database.query<{ place: string; type: string; isGenerated: string }>(
      sql`SELECT table_name || '.' || column_name AS place, data_type AS type, is_generated FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    const typeOf = new Map(columns.map(({ place, type, isGenerated }) => [place, `${type} ${isGenerated}`]));
    for (const [group, tables] of Map.groupBy(distributed, (one) => one.group)) {
      const types = new Set(tables.map(({ table, column }) => typeOf.get(`${table}.${column}`)));
      expect([group, ...types]).toEqual([group, expect.stringMatching(/^(bigint|bytea) NEVER$/)]);
    }
  });

  test('their unique keys hold the column; neither they nor reference tables exclude overlaps', async () => {
    const keys = await scratch.database.query<{
      table: string;
      name: string;
      columns: string[];
      excludes: boolean;
    }>(
      sql`SELECT i.indrelid::regclass::text AS table, i.indexrelid::regclass::text AS name, i.indisexclusion AS excludes,
              (SELECT array_agg(a.attname::text) FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)) AS columns
         FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        WHERE (i.indisunique OR i.indisexclusion) AND c.relnamespace = 'public'::regnamespace AND NOT c.relispartition`,
    );
    const wrong = keys.filter(({ table, columns, excludes }) => {
      const placement = TABLE_PLACEMENTS[table];
      if (placement === undefined || placement.kind === 'local') return false;
      return excludes || (placement.kind === 'distributed' && !columns.includes(placement.column));
    });
    expect(keys.length).toBeGreaterThan(Object.keys(TABLE_PLACEMENTS).length / 2);
    expect(wrong).toEqual([]);
  });
});
