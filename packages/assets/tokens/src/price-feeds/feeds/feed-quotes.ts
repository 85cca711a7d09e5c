import { DEFAULT_HEARTBEAT_SECONDS, type PriceFeed } from '@chainstead/chains/price-feeds';
import type { Address, Fraction } from '@chainstead/core';
import { addressBytes, rawSql, type Sql, sql } from '@chainstead/db';
import { priceOfAnswer } from '../ether-price.ts';

/** `silent`: decimals without a value. `absent`: no feed. `unavailable`: no node has the state. */
export type FeedReadingStatus = 'answer' | 'silent' | 'absent' | 'unavailable';

export interface FeedValue {
  readonly usd: Fraction;
  readonly aggregator: Address;
  /** Decimal digits. */
  readonly round: string;
  readonly block: number;
  /** Null: the feed's state at the end of the block. */
  readonly log: { readonly transactionIndex: number; readonly logIndex: number } | null;
}

export type FeedState =
  | { readonly of: 'value'; readonly value: FeedValue }
  /** No value is known in the unbroken run of blocks up to the block. One may get known. */
  | { readonly of: 'pending' }
  /** The last value is too old or zero, or there is none. */
  | { readonly of: 'unknown' }
  | { readonly of: 'absent' };

export interface FeedQuote {
  readonly status: Exclude<FeedReadingStatus, 'unavailable'>;
  readonly aggregator: Address | null;
  readonly round: string | null;
  readonly answer: string | null;
  readonly decimals: number | null;
  readonly block: number;
  readonly transaction: number;
  readonly log: number;
  /** Unix seconds, as the feed claims. */
  readonly time: number | null;
}

/** Sorts readings behind every log of the block. */
export const END_OF_BLOCK = 2_147_483_647;
export const END_OF_BLOCK_SQL = rawSql(END_OF_BLOCK);

export function isReadingOf({ block, log }: FeedQuote, number: number): boolean {
  return log === END_OF_BLOCK && block === number;
}

export const NEWEST_FIRST = sql`block_number DESC, transaction_index DESC, log_index DESC`;

interface QuotesOfFeed {
  readonly proxy: Sql;
  readonly number: Sql;
  readonly chainId: Sql;
  within(block: Sql): Sql;
  /** Only the newest log of each aggregator and the newest reading. */
  readonly isNewest: boolean;
}

/** Needs a CTE `price_sources` of {@link sourcesSql}. */
export function quotesSql({ proxy, number, chainId, within, isNewest }: QuotesOfFeed): Sql {
  const newest = isNewest ? sql` ORDER BY ${NEWEST_FIRST} LIMIT 1` : rawSql('');
  const block = sql`quote.block_number`;
  return sql`SELECT found.*, price_sources.decimals, 'answer' AS status FROM price_sources CROSS JOIN LATERAL (
    SELECT aggregator, block_number, transaction_index, log_index, round, answer, updated_at FROM feed_answers AS quote
    WHERE quote.aggregator = price_sources.address AND quote.chain_id = ${chainId} AND ${within(block)}${newest}) AS found
  WHERE price_sources.number = ${number}
  UNION ALL SELECT * FROM (
    SELECT aggregator, block_number, ${END_OF_BLOCK_SQL} AS transaction_index, ${END_OF_BLOCK_SQL} AS log_index, round, answer, updated_at, decimals::integer, status
    FROM feed_readings AS quote WHERE quote.feed = ${proxy} AND quote.chain_id = ${chainId} AND quote.status <> 'unavailable'
      AND ${within(block)}${newest}) AS reading`;
}

/** Rows (number, address, decimals). @param proxies `feed(proxy, number)`, numbered from 1 */
export function sourcesSql(feeds: readonly PriceFeed[], proxies: Sql, chainId: Sql): Sql {
  const seeds = feeds.flatMap(({ aggregators, decimals }, index) =>
    aggregators.map((aggregator) => ({ number: index + 1, aggregator: addressBytes(aggregator), decimals })),
  );
  const lists = sql`${seeds.map(({ number }) => number)}::bigint[], ${seeds.map(({ aggregator }) => aggregator)}::bytea[],
      ${seeds.map(({ decimals }) => decimals)}::integer[]`;
  return sql`
  SELECT DISTINCT ON (number, address) number, address, decimals FROM (
    SELECT feed.number, phase.aggregator AS address, phase.decimals::integer AS decimals, 0 AS rank
    FROM ${proxies} JOIN price_feed_phases AS phase ON phase.feed = feed.proxy AND phase.chain_id = ${chainId}
    UNION ALL SELECT number, address, decimals, 1 FROM unnest(${lists}) AS seed(number, address, decimals)) AS known
  ORDER BY number, address, rank`;
}

export function absentToSql(proxy: Sql, chainId: Sql): Sql {
  return sql`(SELECT max(block_number) FROM feed_readings AS reading WHERE reading.feed = ${proxy} AND reading.chain_id = ${chainId} AND reading.status = 'absent')`;
}

export interface FeedFacts {
  /** The newest quote, unless a block since then is not indexed. */
  readonly quote: FeedQuote | null;
  readonly isKnown: boolean;
  readonly absentTo: number | null;
}

/** At the end of a block. @param at time in Unix seconds */
export function stateOfFeed(
  { quote, isKnown, absentTo }: FeedFacts,
  { heartbeatSeconds = DEFAULT_HEARTBEAT_SECONDS }: PriceFeed,
  at: { readonly block: number; readonly time: number },
): FeedState {
  // Where there is no contract, there was none before.
  if (quote === null) return { of: !isKnown && absentTo !== null && at.block <= absentTo ? 'absent' : 'pending' };
  if (quote.status === 'absent') return { of: 'absent' };
  const { aggregator, round, answer, decimals, time, block, transaction, log } = quote;
  if (aggregator === null || round === null || answer === null || decimals === null || time === null)
    return { of: 'unknown' };
  const usd = priceOfAnswer(answer, decimals);
  if (usd === null || at.time - time > heartbeatSeconds) return { of: 'unknown' };
  const isReading = log === END_OF_BLOCK;
  const place = isReading ? null : { transactionIndex: transaction, logIndex: log };
  return { of: 'value', value: { usd, aggregator, round, block, log: place } };
}
