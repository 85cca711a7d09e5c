import type { ChainId } from '@chainstead/core';
import { type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { CONTRADICTIONS } from '@chainstead/sync/requests';

const BIGINT_MAX = '9223372036854775807';

export type ChainInSql = ChainId | Sql;

/** CTEs `ranges` and `covered`: `indexed_from` and `indexed_to` of the newest run, or nulls. */
export function coverage(chainId: ChainInSql, dataset: string): Sql {
  return sql`ranges AS (
  SELECT first_block, last_block, lag(last_block) OVER (ORDER BY first_block) AS previous_last
  FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = ${dataset}
), covered AS MATERIALIZED (
  SELECT max(first_block) FILTER (WHERE coalesce(previous_last < first_block - 1, true)) AS indexed_from, max(last_block) AS indexed_to
  FROM ranges
)`;
}

interface BlockSpan {
  readonly lowest: Sql;
  readonly highest: Sql;
}

/** Disjoint ranges cover the span exactly if their parts in it add up to its length. */
export function isComplete(span: BlockSpan, ranges: Sql = rawSql('ranges')): Sql {
  return sql`coalesce((
    SELECT span.lowest <= span.highest AND span.highest - span.lowest + 1 = (
      SELECT sum(least(last_block, span.highest) - greatest(first_block, span.lowest) + 1) FROM ${ranges}
      WHERE last_block >= span.lowest AND first_block <= span.highest)
    FROM (SELECT ${span.lowest} AS lowest, ${span.highest} AS highest) AS span), false)`;
}

/** Stored although they contradict their header: rows may be missing or wrong. */
export const IS_CONTRADICTED = sql`proof = 'unproven' AND proof_reason IN (${rawSql(CONTRADICTIONS.map((reason) => `'${reason}'`).join(', '))})`;

export function hasContradicted(chainId: ChainInSql, dataset: string, { lowest, highest }: BlockSpan): Sql {
  return sql`EXISTS (SELECT FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = ${dataset} AND ${IS_CONTRADICTED}
    AND last_block >= ${lowest} AND first_block <= ${highest})`;
}

/** CTE `from_date`: blocks below `block` are earlier; `known_block`: the same, or null if none. */
export function fromDateBound(chainId: ChainInSql, date: Sql): Sql {
  return sql`from_date AS MATERIALIZED (
  ${bisection(chainId, sql`probe.block_timestamp < ${date}`)}
  SELECT max(low) AS block, nullif(max(low), 0) AS known_block FROM steps
)`;
}

/** CTE `to_date`: blocks above `block` are later; `known_block`: the same, or null if none. */
export function toDateBound(chainId: ChainInSql, date: Sql): Sql {
  return sql`to_date AS MATERIALIZED (
  ${bisection(chainId, sql`probe.block_timestamp <= ${date}`)}
  SELECT known_block, coalesce(known_block, ${rawSql(BIGINT_MAX)}) AS block FROM (SELECT (
    SELECT block_number - 1 FROM blocks WHERE chain_id = ${chainId} AND block_number >= (SELECT max(low) FROM steps)
    ORDER BY block_number LIMIT 1) AS known_block) AS later
)`;
}

/** Within the CTE that uses it: Citus refuses recursion next to a distributed table. */
function bisection(chainId: ChainInSql, isBelow: Sql): Sql {
  return sql`WITH RECURSIVE steps(low, high) AS (
  SELECT 0::bigint, coalesce((SELECT block_number + 1 FROM blocks WHERE chain_id = ${chainId} ORDER BY block_number DESC LIMIT 1), 0)
  UNION ALL
  SELECT CASE WHEN ${isBelow} THEN probe.block_number + 1 ELSE step.low END,
    CASE WHEN ${isBelow} THEN step.high ELSE (step.low + step.high) / 2 END
  FROM steps AS step CROSS JOIN LATERAL (
    SELECT block_number, block_timestamp FROM blocks WHERE chain_id = ${chainId} AND block_number >= (step.low + step.high) / 2
    ORDER BY block_number LIMIT 1) AS probe
  WHERE step.low < step.high
)`;
}

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
