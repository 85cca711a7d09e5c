/** Generic rows for every table that can be distributed. */

import type { Database } from '../../database.ts';
import { rawSql, sql } from '../../sql.ts';
import { TABLE_PLACEMENTS } from '../table-placements.ts';

const ROWS = 60;
/** Bounds of partitions: [0, 30), [30, …). */
const CUT = 30;

/** A value for row number `n`, by type. Keys of two rows differ in it if the type allows. */
const VALUE_OF_TYPE: Readonly<Record<string, string>> = {
  bigint: 'n',
  boolean: 'n % 2 = 0',
  bytea: `decode(lpad(to_hex(n), 40, '0'), 'hex')`,
  date: `date '2026-01-01' + n`,
  'double precision': 'n / 7.0',
  integer: 'n',
  jsonb: `'{}'`,
  numeric: 'n * 1000000000000',
  smallint: 'n % 3',
  text: `'text ' || n`,
  'timestamp with time zone': `timestamptz '2026-01-01' + make_interval(secs => n)`,
};

/** Fills the tables, after creating partitions. Returns their names. */
export async function fillTables(database: Database): Promise<readonly string[]> {
  const tables = Object.entries(TABLE_PLACEMENTS).flatMap(([table, placement]) =>
    placement === undefined || placement.kind === 'local' ? [] : [table],
  );
  for (const table of tables) {
    const [found] = await database.query<{ partitioned: boolean }>(
      sql`SELECT relkind = 'p' AS partitioned FROM pg_class WHERE oid = ${table}::regclass`,
    );
    if (found?.partitioned === true) {
      await database.query(sql`SELECT attach_partition(${table}::regclass, 1, 0, ${CUT})`);
      await database.query(sql`SELECT attach_partition(${table}::regclass, 1, ${CUT}, null)`);
    }
    const columns = await columnsOf(database, table);
    const values = columns.map(({ name, type }) => (name === 'chain_id' ? '1' : (VALUE_OF_TYPE[type] ?? 'NULL')));
    await database.query(
      sql`INSERT INTO ${rawSql(table)} (${rawSql(columns.map(({ name }) => name).join(', '))}) SELECT ${rawSql(values.join(', '))} FROM generate_series(1, ${rawSql(ROWS)}) AS n`,
    );
  }
  return tables;
}

/** Returns a digest of each table's contents. */
export async function digestTables(
  database: Database,
  tables: readonly string[],
): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const table of tables) {
    const texts = (await columnsOf(database, table)).map(({ name }) => `${name}::text`);
    const rows = await database.query<{ row: string }>(
      sql`SELECT concat_ws(' | ', ${rawSql(texts.join(', '))}) AS row FROM ${rawSql(table)} ORDER BY 1`,
    );
    digests[table] = `${rows.length} rows: ${rows.map(({ row }) => row).join('\n')}`;
  }
  return digests;
}

/** Returns the columns that are written, without arrays. */
function columnsOf(database: Database, table: string): Promise<{ name: string; type: string }[]> {
  return database.query(
    sql`SELECT column_name AS name, data_type AS type FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = ${table} AND is_generated = 'NEVER' AND data_type <> 'ARRAY' ORDER BY ordinal_position`,
  );
}
