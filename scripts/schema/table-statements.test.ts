import { rawSql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { integer, pgTable, unique } from 'drizzle-orm/pg-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { readDeclaredTables } from './schema-tables.ts';
import { tableStatements } from './table-statements.ts';

const tables = await readDeclaredTables();

describe('the database after all migrations', () => {
  const scratch = scratchOfFile();
  let migrated: ReadonlyMap<string, unknown>;
  let declared: ReadonlyMap<string, unknown>;

  beforeAll(async () => {
    migrated = await readTables('public');
    await scratch.database.query(sql`CREATE SCHEMA declared`);
    await scratch.database.transaction(async (transaction) => {
      await transaction.query(sql`SET LOCAL search_path = declared, public`);
      for (const { table } of tables)
        for (const statement of tableStatements(table)) await transaction.query(rawSql(statement));
    });
    declared = await readTables('declared');
  });

  /** What the catalog says of each table of a schema, without the name of that schema. */
  async function readTables(schema: string): Promise<ReadonlyMap<string, unknown>> {
    const rows = await scratch.database.query<{ name: string }>(
      sql`SELECT relname::text AS name, pg_get_partkeydef(c.oid) AS partitioning, reloptions AS options,
       (SELECT jsonb_agg(jsonb_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'isRequired', attnotnull,
           'generated', attgenerated, 'value', pg_get_expr(adbin, adrelid)) ORDER BY attnum)
          FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns,
       (SELECT jsonb_agg(pg_get_constraintdef(k.oid) ORDER BY conname) FROM pg_constraint AS k
         WHERE conrelid = c.oid AND contype <> 'n') AS constraints,
       (SELECT jsonb_agg(replace(indexdef, ${schema} || '.', '') ORDER BY indexname) FROM pg_indexes
         WHERE schemaname = ${schema} AND tablename = relname) AS indexes
     FROM pg_class AS c WHERE relnamespace = ${schema}::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
    return new Map(rows.map(({ name, ...facts }) => [name, facts]));
  }

  test.each(tables.map(({ name }) => name))('has %s as it is declared', (name) => {
    expect(declared.get(name)).toBeDefined();
    expect(migrated.get(name)).toEqual(declared.get(name));
  });
});

test('a constraint that is not the primary key is refused', () => {
  const table = pgTable('pairs', { left: integer('left'), right: integer('right') }, ({ left, right }) => [
    unique().on(left, right),
  ]);
  expect(() => tableStatements(table)).toThrow('Table pairs has a constraint that is not its primary key');
});
