import type { Chain } from '@chainstead/chains';
import { fromDateBound } from '@chainstead/data-api';
import { type ReadDatabase, sql } from '@chainstead/db';

/** Blocks around a time. */
export interface BlockBoundary {
  /** The last known block before the time; null: none. */
  readonly before: number | null;
  /** The first known block at or after the time; null: none. */
  readonly at: number | null;
}

/** Returns the known blocks around a time. @param time Unix seconds */
export async function readBoundary(database: ReadDatabase, chain: Chain, time: number): Promise<BlockBoundary> {
  const chainId = sql`${chain.id}::bigint`;
  const [row] = await database.select<{ readonly known: number | null; readonly at: number | null }>(
    sql`WITH ${fromDateBound(chainId, sql`to_timestamp(${time}::float8)`)}
SELECT known_block AS known,
  (SELECT block_number FROM blocks WHERE chain_id = ${chainId} AND block_number >= (SELECT block FROM from_date) ORDER BY block_number LIMIT 1) AS at
FROM from_date`,
  );
  const known = row?.known ?? null;
  return { before: known === null ? null : known - 1, at: row?.at ?? null };
}
