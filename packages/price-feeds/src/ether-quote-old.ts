/**
 * Looks up the price of ether in SQL: the last price of the chain's feed, or the last swap of its most trusted pool, at or before a place in the
 * chain. The price of a feed is a log, or a reading at the end of a block. Arguments are SQL expressions, never values.
 */

import type { Chain } from '@chainstead/chains';
import { isCompleteOld } from '@chainstead/data-api';
import { addressBytes, type Bind, plainText } from '@chainstead/db';
import { hasEtherQuotes } from './ether-quote.ts';
import { feedAnswers } from './feeds/feed-answers.ts';
import { END_OF_BLOCK, NEWEST_FIRST } from './feeds/feed-quotes.ts';
import { poolPrices, pricingPools } from './pool-prices.ts';

/** A place in the chain. */
interface ChainPlaceOld {
  readonly block: string;
  readonly transaction: string;
  readonly log: string;
}

interface EtherQuotesOld {
  /** Common table expressions that the quotes read, to be put in the statement's `WITH`. */
  readonly ctes: readonly string[];
  /**
   * A relation of at most one row (value, source) for {@link readEtherQuote}. With a place, it has a row only if every block from the price
   * to there is indexed: a gap may hide a newer one. Null: the newest that is known.
   */
  at(place: ChainPlaceOld | null): string;
}

/**
 * @param chainId placeholder of the chain's id, which the quotes of a chain without {@link hasEtherQuotes} don't use: Postgres refuses a value that
 * no part of a statement uses
 * @param bind adds a value to the statement and gives its placeholder
 */
export function etherQuotesOld(chain: Chain, chainId: string, bind: Bind): EtherQuotesOld {
  const { feed } = chain.etherPrice;
  const pools = pricingPools(chain);
  if (!hasEtherQuotes(chain)) return { ctes: [], at: () => '(SELECT NULL::numeric AS value, NULL::integer AS source)' };
  const dataset = (feed === null ? poolPrices : feedAnswers).name;
  const ranges = `price_ranges AS (SELECT first_block, last_block FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = '${dataset}')`;
  const source =
    feed === null
      ? poolSource(bind(pools.map(({ address }) => addressBytes(address))))
      : feedSource(
          bind(addressBytes(feed.proxy)),
          chainId,
          bind(feed.aggregators.map(addressBytes)),
          bind(feed.decimals),
        );
  return {
    ctes: [ranges, source.cte],
    at: (place) => `(SELECT value, source FROM (
      SELECT * FROM (SELECT found.*, sources.source FROM price_sources AS sources CROSS JOIN LATERAL (
        SELECT block_number, transaction_index, log_index, ${source.value} AS value FROM ${source.table} AS quote
        WHERE quote.${source.key} = sources.address AND quote.chain_id = ${chainId}${place === null ? '' : ` AND ${notAfter(place)}`}
        ORDER BY ${plainText(NEWEST_FIRST)} LIMIT 1) AS found${source.readings(place)}) AS quote
      ORDER BY ${source.order} LIMIT 1) AS latest
      ${place === null ? '' : `WHERE ${isCompleteOld({ lowest: 'latest.block_number', highest: place.block }, 'price_ranges')}`})`,
  };
}

interface QuoteSource {
  /** CTE `price_sources` (address, source). */
  readonly cte: string;
  readonly table: string;
  readonly key: string;
  readonly value: string;
  /** Which of the sources' quotes counts. */
  readonly order: string;
  /** More quotes: a `UNION ALL`, or nothing. */
  readings(place: ChainPlaceOld | null): string;
}

/** The newest price of all aggregators, and of the feed's readings. Aggregators that the proxy named come with the proxy's decimals. */
function feedSource(proxy: string, chainId: string, seeds: string, decimals: string): QuoteSource {
  return {
    cte: `price_sources AS MATERIALIZED (
  SELECT DISTINCT ON (address) address, source FROM (
    SELECT aggregator AS address, decimals::integer AS source, 0 AS rank FROM price_feed_phases WHERE feed = ${proxy} AND chain_id = ${chainId}
    UNION ALL SELECT seed, ${decimals}::integer, 1 FROM unnest(${seeds}::bytea[]) AS seed) AS known
  ORDER BY address, rank)`,
    table: 'feed_answers',
    key: 'aggregator',
    value: 'answer',
    order: plainText(NEWEST_FIRST),
    readings: (place) => ` UNION ALL SELECT * FROM (
        SELECT block_number, ${END_OF_BLOCK}, ${END_OF_BLOCK}, answer, decimals::integer FROM feed_readings AS quote
        WHERE quote.feed = ${proxy} AND quote.chain_id = ${chainId} AND quote.status <> 'unavailable'${place === null ? '' : ` AND ${hasEnded(place)}`}
        ORDER BY block_number DESC LIMIT 1) AS reading`,
  };
}

/** The first pool, in the order of trust, that had a swap. */
function poolSource(pools: string): QuoteSource {
  return {
    cte: `price_sources AS MATERIALIZED (SELECT address, ordinal::integer AS source FROM unnest(${pools}::bytea[]) WITH ORDINALITY AS known(address, ordinal))`,
    table: 'pool_prices',
    key: 'pool',
    value: 'sqrt_price_x96',
    order: 'source',
    readings: () => '',
  };
}

/** Whether the end of a reading's block is not after the place. */
function hasEnded({ block, transaction, log }: ChainPlaceOld): string {
  return `(quote.block_number < ${block} OR (quote.block_number = ${block} AND ${transaction} >= ${END_OF_BLOCK} AND ${log} >= ${END_OF_BLOCK}))`;
}

function notAfter({ block, transaction, log }: ChainPlaceOld): string {
  return `(quote.block_number, quote.transaction_index, quote.log_index) <= (${block}, ${transaction}, ${log})`;
}
