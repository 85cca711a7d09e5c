import type { Chain } from '@chainstead/chains';
import { feedsOf } from '@chainstead/chains/price-feeds';
import type { Address } from '@chainstead/core';
import { addressBytes, hexText, type ReadDatabase, type Sql, sql } from '@chainstead/db';
import { isComplete } from '@chainstead/pages';
import { feedAnswers } from './feed-answers.ts';
import {
  absentToSql,
  type FeedFacts,
  type FeedQuote,
  type FeedState,
  isReadingOf,
  NEWEST_FIRST,
  quotesSql,
  sourcesSql,
  stateOfFeed,
} from './feed-quotes.ts';

/** At the end of a block, by proxy. @param at time in Unix seconds */
export async function readFeedValues(
  database: ReadDatabase,
  chain: Chain,
  at: { readonly block: number; readonly time: number },
): Promise<ReadonlyMap<Address, FeedState>> {
  const feeds = feedsOf(chain);
  if (feeds.length === 0) return new Map();
  const chainId = sql`${chain.id}::bigint`;
  const block = sql`${at.block}::bigint`;
  const proxies = sql`unnest(${feeds.map(({ proxy }) => addressBytes(proxy))}::bytea[]) WITH ORDINALITY AS feed(proxy, number)`;
  const proxy = sql`feed.proxy`;
  const within = (column: Sql) => sql`${column} <= ${block}`;
  const quotes = quotesSql({ proxy, number: sql`feed.number`, chainId, within, isNewest: true });
  const rows = await database.select<
    QuoteColumns & Omit<FeedFacts, 'quote'> & { number: number; isComplete: boolean }
  >(
    sql`WITH price_ranges AS (
  SELECT first_block, last_block FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = ${feedAnswers.name}),
price_sources AS MATERIALIZED (${sourcesSql(feeds, proxies, chainId)})
SELECT feed.number::integer AS number, EXISTS (SELECT FROM price_sources WHERE price_sources.number = feed.number) AS "isKnown",
  ${absentToSql(proxy, chainId)} AS "absentTo",
  latest.status, latest.round::text, latest.answer::text, latest.decimals, ${hexText('latest.aggregator')} AS aggregator,
  latest.block_number AS block, latest.transaction_index AS transaction, latest.log_index AS log,
  extract(epoch FROM latest.updated_at)::float8 AS time,
  ${isComplete({ lowest: sql`latest.block_number`, highest: block }, sql`price_ranges`)} AS "isComplete"
FROM ${proxies} LEFT JOIN LATERAL (
  SELECT * FROM (${quotes}) AS quote ORDER BY ${NEWEST_FIRST} LIMIT 1) AS latest ON true`,
  );
  return new Map(
    rows.flatMap(({ number, isKnown, absentTo, isComplete, ...quote }) => {
      const feed = feeds[number - 1];
      if (feed === undefined) return [];
      const known = quote.status !== null && (isComplete || isReadingOf(quote, at.block)) ? quote : null;
      return [[feed.proxy, stateOfFeed({ quote: known, isKnown, absentTo }, feed, at)] as const];
    }),
  );
}

type QuoteColumns = FeedQuote | { readonly status: null };
