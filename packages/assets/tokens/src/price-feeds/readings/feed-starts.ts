import type { Chain } from '@chainstead/chains';
import { feedsOf, type PriceFeed } from '@chainstead/chains/price-feeds';
import type { BlockHeader, Hash } from '@chainstead/core';
import { addressBytes, hexText, rawSql, sql, type Transaction } from '@chainstead/db';
import { type BlockRun, joinRanges } from '../feeds/block-runs.ts';
import { feedAnswers } from '../feeds/feed-answers.ts';
import { sourcesSql } from '../feeds/feed-quotes.ts';

export type BlockIdentity = Pick<BlockHeader, 'number' | 'hash'>;

export interface FeedStart {
  readonly feed: PriceFeed;
  readonly run: BlockRun;
  readonly first: BlockIdentity | null;
  /** First block of the run with a value or a reading; null: none. */
  readonly valueFrom: number | null;
  /** A node lately had no state of a block of the run. */
  readonly isUnavailable: boolean;
}

/** Until a node is asked again. */
const UNAVAILABLE_FOR = sql`interval '1 day'`;

/** Unbroken runs of indexed blocks for each feed, oldest first. */
export async function readFeedStarts(
  database: Pick<Transaction, 'query'>,
  chain: Chain,
  pick: (runs: readonly BlockRun[]) => readonly BlockRun[],
): Promise<readonly FeedStart[]> {
  const feeds = feedsOf(chain);
  const ranges = await database.query<{ first: number; last: number }>(
    sql`SELECT first_block AS first, last_block AS last FROM sync_ranges WHERE chain_id = ${chain.id} AND dataset = ${feedAnswers.name} ORDER BY first_block`,
  );
  const runs = pick(joinRanges(ranges.map(({ first, last }) => [first, last] as const)));
  if (feeds.length === 0 || runs.length === 0) return [];
  const chainId = sql`${chain.id}::bigint`;
  const proxies = sql`unnest(${feeds.map(({ proxy }) => addressBytes(proxy))}::bytea[]) WITH ORDINALITY AS feed(proxy, number)`;
  const starts = sql`${runs.map(([first]) => first)}::bigint[], ${runs.map(([, last]) => last)}::bigint[]`;
  const inRun = (alias: string) =>
    sql`${rawSql(alias)}.chain_id = ${chainId} AND ${rawSql(alias)}.block_number BETWEEN run.first AND run.last`;
  const rows = await database.query<
    { feed: number; run: number; block: number | null; hash: Hash | null } & Pick<
      FeedStart,
      'valueFrom' | 'isUnavailable'
    >
  >(
    sql`WITH price_sources AS MATERIALIZED (${sourcesSql(feeds, proxies, chainId)})
SELECT feed.number::integer AS feed, run.number::integer AS run, known.block_number AS block, ${hexText('known.block_hash')} AS hash,
  (SELECT min(block_number) FROM (
    SELECT answer.block_number FROM price_sources AS source CROSS JOIN LATERAL (
      SELECT block_number FROM feed_answers AS answer WHERE answer.aggregator = source.address AND ${inRun('answer')} ORDER BY block_number LIMIT 1) AS answer
    WHERE source.number = feed.number
    UNION ALL SELECT min(block_number) FROM feed_readings AS reading
    WHERE reading.feed = feed.proxy AND reading.status <> 'unavailable' AND ${inRun('reading')}) AS value) AS "valueFrom",
  EXISTS (SELECT FROM feed_readings AS reading WHERE reading.feed = feed.proxy AND reading.status = 'unavailable' AND ${inRun('reading')}
    AND reading.read_at > now() - ${UNAVAILABLE_FOR}) AS "isUnavailable"
FROM ${proxies} CROSS JOIN unnest(${starts}) WITH ORDINALITY AS run(first, last, number)
LEFT JOIN LATERAL (SELECT block_number, block_hash FROM blocks WHERE ${inRun('blocks')} ORDER BY block_number LIMIT 1) AS known ON true
ORDER BY run.number, feed.number`,
  );
  return rows.flatMap(({ block, hash, valueFrom, isUnavailable, ...numbers }) => {
    const [feed, run] = [feeds[numbers.feed - 1], runs[numbers.run - 1]];
    if (feed === undefined || run === undefined) return [];
    const first = block === null || hash === null ? null : { number: block, hash };
    return [{ feed, run, first, valueFrom, isUnavailable }];
  });
}
