/** One row per table and hour, kept for a day. */

import type { Database } from '../database.ts';
import { sql } from '../sql.ts';
import { readTableSizes } from './table-sizes.ts';

const WHOLE = '';
const TABLES_MAX = 200;
const KEPT_HOURS = 26;
const BACK_HOURS = 24.5;

export async function sampleTables(database: Database): Promise<void> {
  const [known] = await database.query(
    sql`SELECT FROM table_sizes_hourly WHERE table_name = ${WHOLE} AND hour = date_trunc('hour', now())`,
  );
  if (known !== undefined) return;
  const { tables, databaseBytes, away } = await readTableSizes(database);
  // Missing data would look like growth later.
  if (away.length > 0) return;
  const largest = tables.slice(0, TABLES_MAX);
  const sampled = [
    { table: WHOLE, bytes: databaseBytes },
    ...largest.map(({ table, heapBytes, indexBytes }) => ({ table, bytes: heapBytes + indexBytes })),
  ].toSorted((a, b) => a.table.localeCompare(b.table));
  await database.query(
    sql`INSERT INTO table_sizes_hourly (table_name, hour, bytes)
     SELECT name, date_trunc('hour', now()), bytes FROM unnest(${sampled.map(({ table }) => table)}::text[], ${sampled.map(({ bytes }) => bytes)}::bigint[]) AS sampled (name, bytes)
     ON CONFLICT (table_name, hour) DO NOTHING`,
  );
  await database.query(
    sql`DELETE FROM table_sizes_hourly WHERE hour < now() - make_interval(hours => ${KEPT_HOURS})`,
  );
}

export interface FormerSize {
  readonly bytes: number;
  readonly secondsAgo: number;
}

/** A day ago, or the oldest sample. */
export async function readFormerSizes(database: Pick<Database, 'query'>) {
  const rows = await database.query<FormerSize & { table: string }>(
    sql`SELECT DISTINCT ON (table_name) table_name AS "table", bytes, extract(epoch FROM now() - sampled_at)::float8 AS "secondsAgo"
       FROM table_sizes_hourly WHERE sampled_at > now() - ${BACK_HOURS} * interval '1 hour' ORDER BY table_name, hour`,
  );
  const tables = new Map(rows.map(({ table, bytes, secondsAgo }) => [table, { bytes, secondsAgo }]));
  return { database: tables.get(WHOLE) ?? null, tables };
}
