import type { Chain } from '@chainstead/chains';
import { type ReadDatabase, sql } from '@chainstead/db';
import { fromDateBound } from '@chainstead/pages';

export interface BlockBoundary {
  readonly before: number | null;
  readonly at: number | null;
}

export async function readBoundary(database: ReadDatabase, chain: Chain, time: number): Promise<BlockBoundary> {
  const chainId = sql`${chain.id}::bigint`;
  const [row] = await database.select<{ readonly before: number | null; readonly at: number | null }>(
    sql`WITH ${fromDateBound(chainId, sql`to_timestamp(${time}::float8)`)}
SELECT known_block - 1 AS before,
  (SELECT block_number FROM blocks WHERE chain_id = ${chainId} AND block_number >= (SELECT block FROM from_date) ORDER BY block_number LIMIT 1) AS at
FROM from_date`,
  );
  return row ?? { before: null, at: null };
}
