import type { Chain } from '@chainstead/chains';
import { hexBytes, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import type { Projection } from '@chainstead/sync/datasets';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { candleSpans, poolCandles, staleCandles } from '../tables/schema.ts';

/** A worker stores final spans: the head causes no work. Dropped swaps leave their candles. */
export const candlesOfSwaps: Projection = {
  name: 'pool-candles',
  version: 1,
  tables: [candleSpans, staleCandles, poolCandles],
  added: ({ rows }) => [markStale(rows)],
  removed: ({ rows }) => [markStale(rows)],
  rolledBack: (chainId, ancestor) => [
    sql`DELETE FROM candle_spans WHERE chain_id = ${chainId} AND hours IN (1, 24) AND last_block > ${ancestor}`,
  ],
  dropped: () => [],
};

/** Invalidates spans whose prices may follow from changed answers. */
export const candlesOfFeeds: Projection = {
  name: 'priced-candles',
  version: 1,
  tables: [],
  added: ({ rows }) => [countPriceChanges(rows, rawSql('+'))],
  removed: ({ rows }) => [countPriceChanges(rows, rawSql('-'))],
  dropped: () => [],
};

function countPriceChanges(rows: Sql, sign: Sql): Sql {
  return sql`WITH changed AS MATERIALIZED (
  SELECT chain_id, block_number, hashtextextended(concat_ws(' ', encode(aggregator, 'hex'), block_number, transaction_index, log_index, answer,
    extract(epoch FROM updated_at)), 0) AS digest FROM ${rows} AS answer
), bounds AS MATERIALIZED (
  SELECT min(chain_id) AS chain_id, min(block_number) AS lowest, max(block_number) AS highest FROM changed
), touched AS MATERIALIZED (
  SELECT hours, start, prices_from_block, last_block FROM candle_spans WHERE chain_id = (SELECT chain_id FROM bounds) AND hours IN (1, 24)
    AND last_block >= (SELECT lowest FROM bounds) AND prices_from_block <= (SELECT highest FROM bounds)
), sums AS MATERIALIZED (
  SELECT touched.hours, touched.start, sum(changed.digest) AS digest
  FROM touched JOIN changed ON changed.block_number BETWEEN touched.prices_from_block AND touched.last_block GROUP BY 1, 2
)
UPDATE candle_spans AS span SET price_changes = span.price_changes ${sign} sums.digest
FROM sums WHERE span.chain_id = (SELECT chain_id FROM bounds) AND span.hours = sums.hours AND span.start = sums.start`;
}

export function markPoolStale(poolKey: string, chainId: number, pool: Buffer): Sql {
  return markStale(
    sql`(SELECT * FROM swaps WHERE pool_key = ${poolKey} AND chain_id = ${chainId} AND pool = ${pool})`,
  );
}

/** Spans are ordered as blocks: an index range. If hours share a last block, the first decides. */
function markStale(rows: Sql): Sql {
  return sql`WITH changed AS MATERIALIZED (
  SELECT DISTINCT pool_key, chain_id, pool, block_number FROM ${rows} AS swap WHERE kind = 0
), bounds AS MATERIALIZED (
  SELECT min(chain_id) AS chain_id, min(block_number) AS lowest, max(block_number) AS highest FROM changed
), touched AS MATERIALIZED (
  SELECT chain_id, start, first_block, last_block FROM candle_spans
  WHERE chain_id = (SELECT chain_id FROM bounds) AND hours = 1 AND first_block <= (SELECT highest FROM bounds) AND first_block >= (
    SELECT first_block FROM candle_spans WHERE chain_id = (SELECT chain_id FROM bounds) AND hours = 1 AND last_block >= (SELECT lowest FROM bounds)
    ORDER BY last_block, start LIMIT 1)
)
INSERT INTO stale_candles (pool_key, chain_id, hours, start, pool)
SELECT DISTINCT changed.pool_key, changed.chain_id, width.hours, touched.start - touched.start % width.hours, changed.pool
FROM changed JOIN touched ON changed.block_number BETWEEN touched.first_block AND touched.last_block
CROSS JOIN (VALUES (1::smallint), (24::smallint)) AS width (hours)
ORDER BY 1, 2, 3, 4, 5 ON CONFLICT (pool_key, chain_id, hours, start, pool) DO UPDATE SET revision = gen_random_uuid()`;
}

/** With their days. `start`: hours since the epoch. */
export async function markHoursStale(
  transaction: Transaction,
  chain: Chain,
  hours: readonly { readonly pool: PoolId; readonly start: number }[],
): Promise<void> {
  if (hours.length === 0) return;
  await transaction.query(
    sql`INSERT INTO stale_candles (pool_key, chain_id, hours, start, pool)
     SELECT DISTINCT key, ${chain.id}::bigint, width.hours, start - start % width.hours, pool
     FROM unnest(${hours.map(({ pool }) => poolKey(pool))}::bigint[], ${hours.map(({ pool }) => hexBytes(pool))}::bytea[], ${hours.map(({ start }) => start)}::int[]) AS outdated (key, pool, start)
     CROSS JOIN (VALUES (1::smallint), (24::smallint)) AS width (hours) ORDER BY 1, 2, 3, 4, 5
     ON CONFLICT (pool_key, chain_id, hours, start, pool) DO UPDATE SET revision = gen_random_uuid()`,
  );
}
