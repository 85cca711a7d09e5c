import type { Database } from '../database.ts';
import { sql } from '../sql.ts';

/** Unix milliseconds by the database's clock, which all processes share. */
export async function readTime(database: Pick<Database, 'query'>): Promise<number> {
  const [row] = await database.query<{ now: number }>(
    sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
  );
  if (row === undefined) throw new TypeError('The database returned no time');
  return row.now;
}
