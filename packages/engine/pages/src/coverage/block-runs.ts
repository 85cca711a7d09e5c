import type { ChainId } from '@chainstead/core';
import { type ReadDatabase, sql } from '@chainstead/db';

interface BlockRun {
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly isNewest: boolean;
}

/** A dataset whose run does not contain the block is missing. */
export async function readBlockRuns(
  database: ReadDatabase,
  chainId: ChainId,
  datasets: readonly string[],
  block: number,
): Promise<ReadonlyMap<string, BlockRun>> {
  const rows = await database.select<BlockRun & { readonly dataset: string }>(
    sql`WITH ranges AS (
  SELECT dataset, first_block, last_block, lag(last_block) OVER (PARTITION BY dataset ORDER BY first_block) AS previous_last
  FROM sync_ranges WHERE chain_id = ${chainId}::bigint AND dataset = ANY (${datasets}::text[])
), numbered AS (
  SELECT dataset, first_block, last_block,
    count(*) FILTER (WHERE coalesce(previous_last < first_block - 1, true)) OVER (PARTITION BY dataset ORDER BY first_block) AS run
  FROM ranges
), runs AS (
  SELECT dataset, min(first_block) AS first_block, max(last_block) AS last_block FROM numbered GROUP BY dataset, run
)
SELECT dataset, first_block, last_block, last_block = (SELECT max(last_block) FROM runs AS others WHERE others.dataset = runs.dataset) AS "isNewest"
FROM runs WHERE ${block}::bigint BETWEEN first_block AND last_block`,
  );
  return new Map(rows.map(({ dataset, ...run }) => [dataset, run]));
}
