/** For many blocks, where `feed-values.ts` would look up each. */
import type { Chain } from '@chainstead/chains';
import { feedsOf, type PriceFeed } from '@chainstead/chains/price-feeds';
import type { Address, Fraction } from '@chainstead/core';
import { addressBytes, hexText, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
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

interface FeedSteps {
  /** US dollars per token at the end of a block; null: `unknown`. @param time Unix seconds */
  at(block: number, time: number): Fraction | 'absent' | 'pending' | null;
}

/** By proxy, in one statement. */
export async function readFeedSteps(
  database: ReadDatabase,
  chain: Chain,
  feeds: readonly PriceFeed[],
  blocks: readonly number[],
): Promise<ReadonlyMap<Address, FeedSteps>> {
  if (feeds.length === 0) return new Map();
  const chainId = sql`${chain.id}::bigint`;
  const proxies = feeds.map(({ proxy }) => sql`${addressBytes(proxy)}::bytea`);
  const numbered = sql`unnest(ARRAY[${joinSql(proxies)}]) WITH ORDINALITY AS feed(proxy, number)`;
  const unique = [...new Set(blocks)];
  const columns = proxies.map((proxy, index) => {
    const number = rawSql(index + 1);
    return sql`json_build_object('isKnown', EXISTS (SELECT FROM price_sources WHERE number = ${number}), 'absentTo', ${absentToSql(proxy, chainId)}, 'steps',
  (SELECT coalesce(json_agg(json_build_object('status', status, 'aggregator', ${hexText('aggregator')}, 'round', round::text, 'answer', answer::text,
      'decimals', decimals, 'block', block_number, 'transaction', transaction_index, 'log', log_index, 'time', extract(epoch FROM updated_at))
    ORDER BY block_number, transaction_index, log_index), '[]') FROM (${stepsSql(unique, { chainId, proxy, number })}) AS step))`;
  });
  const [row] = await database.select<{
    readonly feeds: readonly StoredSteps[];
    readonly ranges: readonly BlockRun[];
  }>(
    sql`WITH price_sources AS MATERIALIZED (${sourcesSql(feeds, numbered, chainId)}),
price_ranges AS MATERIALIZED (SELECT first_block, last_block FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = ${feedAnswers.name})
SELECT json_build_array(${joinSql(columns)}) AS feeds,
  (SELECT coalesce(json_agg(json_build_array(first_block, last_block) ORDER BY first_block), '[]') FROM price_ranges) AS ranges`,
  );
  const runs = joinRanges(row?.ranges ?? []);
  return new Map(
    feeds.map((feed, index) => {
      const stored = row?.feeds[index];
      return [feed.proxy, stored === undefined ? { at: () => 'pending' } : stepsOf(feed, stored, runs)];
    }),
  );
}

interface StoredSteps extends Omit<FeedFacts, 'quote'> {
  readonly steps: readonly FeedQuote[];
}

function stepsOf(feed: PriceFeed, { steps, ...facts }: StoredSteps, runs: readonly BlockRun[]): FeedSteps {
  const places = steps.map(({ block }) => block);
  const starts = runs.map(([first]) => first);
  return {
    at(block, time) {
      const step = steps[lastAtOrBefore(places, block)];
      const run = runs[lastAtOrBefore(starts, block)];
      const isInRun = step !== undefined && run !== undefined && run[1] >= block && run[0] <= step.block;
      const isKnownHere = isInRun || (step !== undefined && isReadingOf(step, block));
      const state = stateOfFeed({ ...facts, quote: isKnownHere ? step : null }, feed, { block, time });
      if (state.of === 'value') return state.value.usd;
      return state.of === 'unknown' ? null : state.of;
    },
  };
}

/** Up to this density, a range of the index reads fewer rows than a look-up of each block. */
const DENSE_BLOCKS = 20;

type FeedInSql = Readonly<Record<'chainId' | 'proxy' | 'number', Sql>>;

function stepsSql(blocks: readonly number[], feed: FeedInSql): Sql {
  const quotes = (within: (block: Sql) => Sql, isNewest: boolean) => quotesSql({ ...feed, within, isNewest });
  const until = (block: Sql) =>
    sql`SELECT * FROM (${quotes((column) => sql`${column} <= ${block}`, true)}) AS found ORDER BY ${NEWEST_FIRST} LIMIT 1`;
  const from = blocks.reduce((a, b) => Math.min(a, b), Number.MAX_SAFE_INTEGER);
  const to = blocks.reduce((a, b) => Math.max(a, b), 0);
  if (to - from > DENSE_BLOCKS * blocks.length)
    return sql`SELECT DISTINCT latest.* FROM unnest(${blocks}::bigint[]) AS wanted (block) CROSS JOIN LATERAL (${until(sql`wanted.block`)}) AS latest`;
  const [first, last] = [sql`${from}::bigint`, sql`${to}::bigint`];
  return sql`(${until(first)}) UNION ALL ${quotes((column) => sql`${column} > ${first} AND ${column} <= ${last}`, false)}`;
}

export type BlockRun = readonly [first: number, last: number];

export function joinRanges(ranges: readonly BlockRun[]): readonly BlockRun[] {
  const runs: [number, number][] = [];
  for (const [first, last] of ranges) {
    const open = runs.at(-1);
    if (open !== undefined && open[1] === first - 1) open[1] = last;
    else runs.push([first, last]);
  }
  return runs;
}

/** Index of the last number <= block; -1: none. @param sorted ascending */
function lastAtOrBefore(sorted: readonly number[], block: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= block) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

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
