/** SQL of the price of ether: the feed's last price, or the most trusted pool's last swap. */

import type { Chain } from '@chainstead/chains';
import type { PriceFeed } from '@chainstead/chains/price-feeds';
import type { Address, Fraction } from '@chainstead/core';
import { addressBytes, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { isComplete } from '@chainstead/pages';
import { priceOfAnswer, priceOfPool } from './ether-price.ts';
import { feedAnswers } from './feeds/feed-answers.ts';
import { END_OF_BLOCK_SQL, NEWEST_FIRST } from './feeds/feed-quotes.ts';
import { poolPrices, pricingPools } from './pool-prices.ts';

interface ChainPlace {
  readonly block: Sql;
  readonly transaction: Sql;
  readonly log: Sql;
}

interface EtherQuotes {
  readonly ctes: readonly Sql[];
  /** (value, source) or no row, as after a gap that may hide a newer price. Null: the newest. */
  at(place: ChainPlace | null): Sql;
}

export function hasEtherQuotes(chain: Chain): boolean {
  return chain.etherPrice.feed !== null || pricingPools(chain).length > 0;
}

export function etherQuotes(chain: Chain, chainId: Sql): EtherQuotes {
  const { feed } = chain.etherPrice;
  const pools = pricingPools(chain);
  if (!hasEtherQuotes(chain))
    return { ctes: [], at: () => sql`(SELECT NULL::numeric AS value, NULL::integer AS source)` };
  const dataset = (feed === null ? poolPrices : feedAnswers).name;
  const ranges = sql`price_ranges AS (SELECT first_block, last_block FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = ${dataset})`;
  const source = feed === null ? poolSource(pools.map(({ address }) => address)) : feedSource(feed, chainId);
  return {
    ctes: [ranges, source.cte],
    at: (place) => sql`(SELECT value, source FROM (
      SELECT * FROM (SELECT found.*, sources.source FROM price_sources AS sources CROSS JOIN LATERAL (
        SELECT block_number, transaction_index, log_index, ${source.value} AS value FROM ${source.table} AS quote
        WHERE quote.${source.key} = sources.address AND quote.chain_id = ${chainId}${place === null ? NOTHING : sql` AND (quote.block_number, quote.transaction_index, quote.log_index) <= (${place.block}, ${place.transaction}, ${place.log})`}
        ORDER BY ${NEWEST_FIRST} LIMIT 1) AS found${source.readings(place)}) AS quote
      ORDER BY ${source.order} LIMIT 1) AS latest
      ${place === null ? NOTHING : sql`WHERE ${isComplete({ lowest: sql`latest.block_number`, highest: place.block }, sql`price_ranges`)}`})`,
  };
}

export function readEtherQuote(
  chain: Chain,
  quote: { readonly value: string | null; readonly source: number | null },
): Fraction | null {
  if (quote.value === null || quote.source === null) return null;
  if (chain.etherPrice.feed !== null) return priceOfAnswer(quote.value, quote.source);
  const pool = pricingPools(chain)[quote.source - 1];
  return pool === undefined ? null : priceOfPool(quote.value, pool);
}

interface QuoteSource {
  /** CTE `price_sources` (address, source). */
  readonly cte: Sql;
  readonly table: Sql;
  readonly key: Sql;
  readonly value: Sql;
  readonly order: Sql;
  readings(place: ChainPlace | null): Sql;
}

/** Newest price of all aggregators and readings. The proxy's decimals win over configured ones. */
function feedSource(feed: PriceFeed, chainId: Sql): QuoteSource {
  const proxy = sql`${addressBytes(feed.proxy)}`;
  return {
    cte: sql`price_sources AS MATERIALIZED (
  SELECT DISTINCT ON (address) address, source FROM (
    SELECT aggregator AS address, decimals::integer AS source, 0 AS rank FROM price_feed_phases WHERE feed = ${proxy} AND chain_id = ${chainId}
    UNION ALL SELECT seed, ${feed.decimals}::integer, 1 FROM unnest(${feed.aggregators.map(addressBytes)}::bytea[]) AS seed) AS known
  ORDER BY address, rank)`,
    table: sql`feed_answers`,
    key: sql`aggregator`,
    value: sql`answer`,
    order: NEWEST_FIRST,
    readings: (place) => sql` UNION ALL SELECT * FROM (
        SELECT block_number, ${END_OF_BLOCK_SQL}, ${END_OF_BLOCK_SQL}, answer, decimals::integer FROM feed_readings AS quote
        WHERE quote.feed = ${proxy} AND quote.chain_id = ${chainId} AND quote.status <> 'unavailable'${place === null ? NOTHING : sql` AND ${hasEnded(place)}`}
        ORDER BY block_number DESC LIMIT 1) AS reading`,
  };
}

/** The first pool, in the order of trust, that had a swap. */
function poolSource(pools: readonly Address[]): QuoteSource {
  return {
    cte: sql`price_sources AS MATERIALIZED (SELECT address, ordinal::integer AS source FROM unnest(${pools.map(addressBytes)}::bytea[]) WITH ORDINALITY AS known(address, ordinal))`,
    table: sql`pool_prices`,
    key: sql`pool`,
    value: sql`sqrt_price_x96`,
    order: sql`source`,
    readings: () => NOTHING,
  };
}

const NOTHING = rawSql('');

function hasEnded({ block, transaction, log }: ChainPlace): Sql {
  return sql`(quote.block_number < ${block} OR (quote.block_number = ${block} AND ${transaction} >= ${END_OF_BLOCK_SQL} AND ${log} >= ${END_OF_BLOCK_SQL}))`;
}

/** US dollars per ether at each block's end. Missing: no price, or a gap before it. */
export async function readEtherPrices(
  database: ReadDatabase,
  chain: Chain,
  blocks: readonly number[],
): Promise<ReadonlyMap<number, Fraction>> {
  if (blocks.length === 0 || !hasEtherQuotes(chain)) return new Map();
  const quotes = etherQuotes(chain, sql`${chain.id}::bigint`);
  const end = { block: rawSql('wanted.block'), transaction: INT4_MAX, log: INT4_MAX };
  const rows = await database.select<{ block: number; value: string | null; source: number | null }>(
    sql`WITH ${joinSql(quotes.ctes)} SELECT wanted.block, quote.value, quote.source
     FROM unnest(${[...new Set(blocks)]}::bigint[]) AS wanted (block) CROSS JOIN LATERAL ${quotes.at(end)} AS quote`,
  );
  return new Map(
    rows.flatMap(({ block, ...quote }) => {
      const price = readEtherQuote(chain, quote);
      return price === null ? [] : [[block, price] as const];
    }),
  );
}

const INT4_MAX = rawSql(2_147_483_647);
