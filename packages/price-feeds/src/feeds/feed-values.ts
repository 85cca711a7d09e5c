/** Values of all feeds of a chain at the end of a block. */

import { type Chain, DEFAULT_HEARTBEAT_SECONDS, feedsOf, type PriceFeed } from '@chainstead/chains';
import type { Address, Fraction } from '@chainstead/core';
import { isComplete } from '@chainstead/data-api';
import { addressBytes, type Bind, hexText, type ReadDatabase } from '@chainstead/db';
import { priceOfAnswer } from '../ether-price.ts';
import { feedAnswers } from './feed-answers.ts';

/** A price that a feed had, and the log that it comes from. */
export interface FeedValue {
  readonly usd: Fraction;
  readonly aggregator: Address;
  readonly block: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

export type FeedState =
  | { readonly of: 'value'; readonly value: FeedValue }
  /** The last value is older than the heartbeat or zero, or a block since then is not indexed. */
  | { readonly of: 'unknown' }
  /** No aggregator is known yet, or indexing began less than a heartbeat ago and no value has come since. */
  | { readonly of: 'unseen' };

/**
 * Returns the state of each feed at the end of a block, by its proxy.
 * @param at the block and its time in Unix seconds
 */
export async function readFeedValues(
  database: ReadDatabase,
  chain: Chain,
  at: { readonly block: number; readonly time: number },
): Promise<ReadonlyMap<Address, FeedState>> {
  const feeds = feedsOf(chain);
  if (feeds.length === 0) return new Map();
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const block = `${bind(at.block)}::bigint`;
  const proxies = `unnest(${bind(feeds.map(({ proxy }) => addressBytes(proxy)))}::bytea[]) WITH ORDINALITY AS feed(proxy, number)`;
  const rows = await database.select<FeedRow>(
    `WITH price_ranges AS (
  SELECT first_block, last_block FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = '${feedAnswers.name}'),
begun AS MATERIALIZED (
  SELECT first_block, (SELECT block_timestamp FROM blocks WHERE chain_id = ${chainId} AND block_number >= first_block ORDER BY block_number LIMIT 1) AS block_timestamp
  FROM (SELECT min(first_block) AS first_block FROM price_ranges) AS first),
price_sources AS MATERIALIZED (${sourcesSql(feeds, proxies, chainId, bind)})
SELECT feed.number::integer AS number, EXISTS (SELECT FROM price_sources WHERE price_sources.number = feed.number) AS is_known,
  latest.answer::text, latest.decimals, ${hexText('latest.aggregator')} AS aggregator, latest.block_number, latest.transaction_index, latest.log_index,
  extract(epoch FROM latest.block_timestamp)::float8 AS time, extract(epoch FROM begun.block_timestamp)::float8 AS begun_time,
  ${isComplete({ lowest: 'coalesce(latest.block_number, begun.first_block)', highest: block }, 'price_ranges')} AS is_complete
FROM ${proxies} CROSS JOIN begun LEFT JOIN LATERAL (
  SELECT found.*, price_sources.decimals FROM price_sources CROSS JOIN LATERAL (
    SELECT aggregator, block_number, transaction_index, log_index, answer, block_timestamp FROM feed_answers AS quote
    WHERE quote.aggregator = price_sources.address AND quote.chain_id = ${chainId} AND quote.block_number <= ${block}
    ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT 1) AS found
  WHERE price_sources.number = feed.number
  ORDER BY found.block_number DESC, found.transaction_index DESC, found.log_index DESC LIMIT 1) AS latest ON true`,
    values,
  );
  return new Map(
    rows.flatMap((row) => {
      const feed = feeds[row.number - 1];
      return feed === undefined ? [] : [[feed.proxy, stateOf(row, feed, at.time)] as const];
    }),
  );
}

interface FeedRow {
  readonly number: number;
  readonly is_known: boolean;
  readonly answer: string | null;
  readonly decimals: number | null;
  readonly aggregator: Address | null;
  readonly block_number: number | null;
  readonly transaction_index: number | null;
  readonly log_index: number | null;
  readonly time: number | null;
  readonly begun_time: number | null;
  readonly is_complete: boolean;
}

/**
 * SQL of the aggregators of each feed: number, address, decimals. Those that the proxy named come with the proxy's decimals.
 * @param proxies SQL of a relation `feed(proxy, number)`, numbered from 1 in the order of `feeds`
 */
export function sourcesSql(feeds: readonly PriceFeed[], proxies: string, chainId: string, bind: Bind): string {
  const seeds = feeds.flatMap(({ aggregators, decimals }, index) =>
    aggregators.map((aggregator) => ({ number: index + 1, aggregator: addressBytes(aggregator), decimals })),
  );
  const lists = [
    `${bind(seeds.map(({ number }) => number))}::bigint[]`,
    `${bind(seeds.map(({ aggregator }) => aggregator))}::bytea[]`,
    `${bind(seeds.map(({ decimals }) => decimals))}::integer[]`,
  ];
  return `
  SELECT DISTINCT ON (number, address) number, address, decimals FROM (
    SELECT feed.number, phase.aggregator AS address, phase.decimals::integer AS decimals, 0 AS rank
    FROM ${proxies} JOIN price_feed_phases AS phase ON phase.feed = feed.proxy AND phase.chain_id = ${chainId}
    UNION ALL SELECT number, address, decimals, 1 FROM unnest(${lists.join(', ')}) AS seed(number, address, decimals)) AS known
  ORDER BY number, address, rank`;
}

function stateOf(row: FeedRow, { heartbeatSeconds = DEFAULT_HEARTBEAT_SECONDS }: PriceFeed, now: number): FeedState {
  const { answer, decimals, aggregator, block_number: block, transaction_index: transactionIndex, log_index } = row;
  const isFresh = (since: number | null): boolean => since !== null && now - since <= heartbeatSeconds;
  if (!row.is_known) return { of: 'unseen' };
  if (!row.is_complete) return { of: 'unknown' };
  if (answer === null) return { of: isFresh(row.begun_time) ? 'unseen' : 'unknown' };
  if (decimals === null || aggregator === null || block === null || transactionIndex === null || log_index === null)
    return { of: 'unknown' };
  const usd = priceOfAnswer(answer, decimals);
  if (usd === null || !isFresh(row.time)) return { of: 'unknown' };
  return { of: 'value', value: { usd, aggregator, block, transactionIndex, logIndex: log_index } };
}
