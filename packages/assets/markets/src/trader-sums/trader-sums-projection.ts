import { createHash, randomUUID } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql } from '@chainstead/db';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import type { Projection } from '@chainstead/sync/datasets';
import { priceSettingsOf } from '../pool-candles/compute-candles.ts';
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

interface TraderSumsKey {
  readonly trader: Address;
  /** All that sums follow from, apart from rows of swaps and prices. Any JSON value. */
  readonly question: unknown;
}

interface ClaimedTraderSums {
  readonly claim: string;
  readonly sums: unknown;
}

/** Sums that no request used for so long are deleted. */
const UNUSED = sql`interval '2 days'`;

/** Later changes of swaps delete the row, so that they are read without a lock. */
export async function claimTraderSums(
  database: Database,
  chain: Chain,
  key: TraderSumsKey,
  lastBlock: number,
): Promise<ClaimedTraderSums> {
  const claim = randomUUID();
  const { trader, scope } = columnsOf(chain, key);
  return database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    await transaction.query(
      sql`DELETE FROM trader_sums WHERE chain_id = ${chain.id} AND used_at < now() - ${UNUSED}`,
    );
    const [row] = await transaction.query<{ readonly sums: unknown }>(
      sql`INSERT INTO trader_sums AS stored (chain_id, trader, scope, last_block, claim) VALUES (${chain.id}, ${trader}, ${scope}, ${lastBlock}, ${claim})
       ON CONFLICT (trader, chain_id, scope) DO UPDATE SET last_block = greatest(stored.last_block, excluded.last_block), claim = excluded.claim,
         used_at = now()
       RETURNING sums`,
    );
    return { claim, sums: row?.sums ?? null };
  });
}

export async function storeTraderSums(
  database: Database,
  chain: Chain,
  key: TraderSumsKey,
  { claim, sums }: ClaimedTraderSums,
): Promise<void> {
  const { trader, scope } = columnsOf(chain, key);
  await database.query(
    sql`UPDATE trader_sums SET sums = ${JSON.stringify(sums)}::jsonb
     WHERE chain_id = ${chain.id} AND trader = ${trader} AND scope = ${scope} AND claim = ${claim}`,
  );
}

function columnsOf(chain: Chain, { trader, question }: TraderSumsKey) {
  const scope = createHash('sha256').update(JSON.stringify([priceSettingsOf(chain), question]));
  return { trader: addressBytes(trader), scope: scope.digest('hex').slice(0, 32) };
}
