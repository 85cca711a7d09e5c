/** Where runs of indexed blocks begin without a value of a feed. */

import { type Chain, feedsOf, type PriceFeed } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { addressBytes, hexText, rawSql, sql, type Transaction } from '@chainstead/db';
import { type BlockRun, joinRanges } from '../feeds/block-runs.ts';
import { feedAnswers } from '../feeds/feed-answers.ts';
import { sourcesSql } from '../feeds/feed-quotes.ts';

/** A block whose hash is known. */
export interface KnownBlock {
  readonly number: number;
  readonly hash: Hash;
}

/** A feed in an unbroken run of indexed blocks. */
export interface FeedStart {
  readonly feed: PriceFeed;
  readonly run: BlockRun;
  /** First known block of the run; null: none is known. */
  readonly first: KnownBlock | null;
  /** First block of the run with a value of the feed, or a reading of it; null: none. */
  readonly valueFrom: number | null;
  /** Whether a node had no state of a block of the run, not long ago. */
  readonly isUnavailable: boolean;
}

/** Time until a node is asked again for state that it did not have. */
const UNAVAILABLE_FOR = sql`interval '1 day'`;

/**
 * Returns unbroken runs of indexed blocks for each feed of the chain, oldest first.
 * @param pick selects some of the runs
 */
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
  const rows = await database.query<StartRow>(
    sql`WITH price_sources AS MATERIALIZED (${sourcesSql(feeds, proxies, chainId)})
SELECT feed.number::integer AS feed, run.number::integer AS run, known.block_number AS block, ${hexText('known.block_hash')} AS hash,
  (SELECT min(block_number) FROM (
    SELECT answer.block_number FROM price_sources AS source CROSS JOIN LATERAL (
      SELECT block_number FROM feed_answers AS answer WHERE answer.aggregator = source.address AND ${inRun('answer')} ORDER BY block_number LIMIT 1) AS answer
    WHERE source.number = feed.number
    UNION ALL SELECT min(block_number) FROM feed_readings AS reading
    WHERE reading.feed = feed.proxy AND reading.status <> 'unavailable' AND ${inRun('reading')}) AS value) AS value_from,
  EXISTS (SELECT FROM feed_readings AS reading WHERE reading.feed = feed.proxy AND reading.status = 'unavailable' AND ${inRun('reading')}
    AND reading.read_at > now() - ${UNAVAILABLE_FOR}) AS is_unavailable
FROM ${proxies} CROSS JOIN unnest(${starts}) WITH ORDINALITY AS run(first, last, number)
LEFT JOIN LATERAL (SELECT block_number, block_hash FROM blocks WHERE ${inRun('blocks')} ORDER BY block_number LIMIT 1) AS known ON true
ORDER BY run.number, feed.number`,
  );
  return rows.flatMap(
    ({ feed: place, run: ofRun, block, hash, value_from: valueFrom, is_unavailable: isUnavailable }) => {
      const [feed, run] = [feeds[place - 1], runs[ofRun - 1]];
      if (feed === undefined || run === undefined) return [];
      const first = block === null || hash === null ? null : { number: block, hash };
      return [{ feed, run, first, valueFrom, isUnavailable }];
    },
  );
}

interface StartRow {
  readonly feed: number;
  readonly run: number;
  readonly block: number | null;
  readonly hash: Hash | null;
  readonly value_from: number | null;
  readonly is_unavailable: boolean;
}
