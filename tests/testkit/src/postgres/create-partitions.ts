import type { ChainId } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';

/**
 * Makes partitions of a chain for rows that a test writes directly, unless one exists already.
 * @param cuts blocks where a new one begins, ascending; none: one partition of all blocks
 */
export async function createPartitions(
  database: Pick<Database, 'query'>,
  table: string,
  chainId: ChainId,
  cuts: readonly number[] = [],
): Promise<void> {
  const existing = await database.query(
    sql`SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent = ${table}::regclass AND pg_get_expr(relpartbound, inhrelid) LIKE ${`FOR VALUES FROM ('${chainId}',%`}`,
  );
  if (existing.length > 0) return;
  const bounds = ['MINVALUE', ...cuts, 'MAXVALUE'];
  for (const [index, from] of bounds.slice(0, -1).entries())
    await database.query(
      rawSql(`CREATE TABLE ${table}_${chainId}_${from} PARTITION OF ${table}
         FOR VALUES FROM (${chainId}, ${from}) TO (${chainId}, ${bounds[index + 1]})`),
    );
}
