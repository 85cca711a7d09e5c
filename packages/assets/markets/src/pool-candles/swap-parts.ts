import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { type PoolSwapsQuery, swapsInRanges } from './read-pool-swaps.ts';

export const SWAPS_PER_PART = 2_500;

/** Ascending, about `part` swaps each, without empty blocks. Null: more than `max` swaps. */
export async function divideSwaps(
  database: ReadDatabase,
  chain: Chain,
  query: PoolSwapsQuery,
  { part, max }: { readonly part: number; readonly max: number | null },
): Promise<readonly BlockRange[] | null> {
  if (query.ranges.length === 0 || query.pools.length === 0) return [];
  const { found } = swapsInRanges(chain, query, ['block_number']);
  const rows = await database.select<{ readonly from: number; readonly to: number; readonly swaps: number }>(
    sql`WITH found AS MATERIALIZED (${found}${max === null ? rawSql('') : sql` LIMIT ${max + 1}::bigint`})
SELECT min(block_number) AS "from", max(block_number) AS "to", sum(swaps)::float8 AS swaps FROM (
  SELECT block_number, swaps, floor((sum(swaps) OVER (ORDER BY block_number) - 1) / ${part}::int) AS number
  FROM (SELECT block_number, count(*) AS swaps FROM found GROUP BY block_number) AS counted) AS numbered
GROUP BY number ORDER BY number`,
  );
  const total = rows.reduce((sum, { swaps }) => sum + swaps, 0);
  return max !== null && total > max ? null : rows;
}
