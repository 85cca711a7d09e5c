import { type Database, rawSql, sql } from '@chainstead/db';

/** Sorted rows of each table that has a column `block_number`: all but those about the work itself. */
export async function readBlockRows(database: Database, chainId: number): Promise<Record<string, string[]>> {
  const tables = await database.query<{ name: string }>(
    sql`SELECT c.table_name AS name FROM information_schema.columns c JOIN pg_class ON relname = c.table_name AND relkind IN ('r', 'p')
      WHERE c.table_schema = 'public' AND column_name = 'block_number' AND NOT relispartition ORDER BY 1`,
  );
  const rows: Record<string, string[]> = {};
  for (const { name } of tables) {
    const found = await database.query<{ row: string }>(
      sql`SELECT t::text AS row FROM ${rawSql(`"${name}"`)} t WHERE chain_id = ${chainId} ORDER BY 1`,
    );
    rows[name] = found.map(({ row }) => row);
  }
  return rows;
}
