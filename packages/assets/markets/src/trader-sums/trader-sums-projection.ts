import { type Sql, sql } from '@chainstead/db';
import type { Projection } from '@chainstead/sync/datasets';
import { traderSums } from '../tables/schema.ts';

/** A changed swap deletes sums. They end at a settled block, so that the head deletes none. */
export const traderSumsOfSwaps: Projection = {
  name: 'trader-sums',
  version: 1,
  tables: [traderSums],
  added: ({ rows }) => [forgetTraders(rows)],
  removed: ({ rows }) => [forgetTraders(rows)],
  rolledBack: (chainId, ancestor) => [
    sql`DELETE FROM trader_sums WHERE chain_id = ${chainId} AND last_block > ${ancestor}`,
  ],
  dropped: (chainId) => [sql`DELETE FROM trader_sums WHERE chain_id = ${chainId}`],
};

export const traderSumsOfFeeds = ofPrices('trader-sums-of-feeds');
export const traderSumsOfPoolPrices = ofPrices('trader-sums-of-pool-prices');

function ofPrices(name: string): Projection {
  return {
    ...{ name, version: 1 },
    tables: [],
    added: ({ rows }) => [forgetPriced(rows)],
    removed: ({ rows }) => [forgetPriced(rows)],
    dropped: () => [],
  };
}

export function forgetTradersOfPool(poolKey: string, chainId: number, pool: Buffer): Sql {
  return forgetTraders(
    sql`(SELECT * FROM swaps WHERE pool_key = ${poolKey} AND chain_id = ${chainId} AND pool = ${pool})`,
  );
}

function forgetTraders(rows: Sql): Sql {
  return sql`WITH changed AS MATERIALIZED (
  SELECT chain_id, block_number, wallet, beneficiary FROM ${rows} AS swap
  WHERE kind = 0 AND block_number <= (SELECT max(last_block) FROM trader_sums WHERE chain_id = (SELECT chain_id FROM ${rows} AS one LIMIT 1))
), party AS MATERIALIZED (
  SELECT chain_id, trader, min(block_number) AS lowest
  FROM (SELECT chain_id, block_number, wallet AS trader FROM changed UNION ALL SELECT chain_id, block_number, beneficiary FROM changed) AS parties
  GROUP BY 1, 2
)
DELETE FROM trader_sums AS sums USING party WHERE sums.chain_id = party.chain_id AND sums.trader = party.trader AND sums.last_block >= party.lowest`;
}

function forgetPriced(rows: Sql): Sql {
  return sql`WITH changed AS MATERIALIZED (SELECT min(chain_id) AS chain_id, min(block_number) AS lowest FROM ${rows} AS price)
DELETE FROM trader_sums AS sums USING changed WHERE sums.chain_id = changed.chain_id AND sums.last_block >= changed.lowest`;
}
