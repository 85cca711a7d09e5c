/** Prices of one feed over a range of blocks: for many blocks, where `feed-values.ts` would look up each. */

import { type Chain, DEFAULT_HEARTBEAT_SECONDS, type PriceFeed } from '@chainstead/chains';
import type { Fraction } from '@chainstead/core';
import { addressBytes, type Bind, type ReadDatabase } from '@chainstead/db';
import { priceOfAnswer } from '../ether-price.ts';
import { feedAnswers } from './feed-answers.ts';
import { sourcesSql } from './feed-values.ts';

export interface FeedSteps {
  /**
   * Returns US dollars per token at the end of a block; null and `unseen` as `unknown` and `unseen` of `FeedState`.
   * @param time of the block, in Unix seconds
   */
  at(block: number, time: number): Fraction | 'unseen' | null;
}

/** Returns the prices of a feed in some blocks. */
export async function readFeedSteps(
  database: ReadDatabase,
  chain: Chain,
  feed: PriceFeed,
  blocks: readonly number[],
): Promise<FeedSteps> {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const proxies = `unnest(${bind([addressBytes(feed.proxy)])}::bytea[]) WITH ORDINALITY AS feed(proxy, number)`;
  const [row] = await database.select<StepsRow>(
    `WITH source AS MATERIALIZED (${sourcesSql([feed], proxies, chainId, bind)}),
price_ranges AS MATERIALIZED (SELECT first_block, last_block FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = '${feedAnswers.name}'),
step AS MATERIALIZED (${stepsSql([...new Set(blocks)], chainId, bind)})
SELECT EXISTS (SELECT FROM source) AS is_known,
  (SELECT extract(epoch FROM block_timestamp)::float8 FROM blocks WHERE chain_id = ${chainId} AND block_number >= (SELECT min(first_block) FROM price_ranges)
    ORDER BY block_number LIMIT 1) AS begun_time,
  (SELECT coalesce(json_agg(json_build_array(block_number, extract(epoch FROM block_timestamp), answer::text, decimals)
    ORDER BY block_number, transaction_index, log_index), '[]') FROM step) AS steps,
  (SELECT coalesce(json_agg(json_build_array(first_block, last_block) ORDER BY first_block), '[]') FROM price_ranges) AS ranges`,
    values,
  );
  return stepsOf(row, feed);
}

/** Blocks per wanted block up to which a range of the index reads fewer rows than a look-up of each block. */
const DENSE_BLOCKS = 20;

/** The prices of the blocks: all in their range, or the last one before each. */
function stepsSql(blocks: readonly number[], chainId: string, bind: Bind): string {
  const columns = 'answer, decimals, block_number, transaction_index, log_index, block_timestamp';
  const answers = `SELECT quote.*, source.decimals FROM source CROSS JOIN LATERAL`;
  const ofSource = `quote.aggregator = source.address AND quote.chain_id = ${chainId}`;
  const newest = 'ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT 1';
  const until = (block: string) =>
    `${answers} (SELECT * FROM feed_answers AS quote WHERE ${ofSource} AND quote.block_number <= ${block} ${newest}) AS quote`;
  const from = blocks.reduce((one, other) => Math.min(one, other), Number.MAX_SAFE_INTEGER);
  const to = blocks.reduce((one, other) => Math.max(one, other), 0);
  if (to - from > DENSE_BLOCKS * blocks.length)
    return `SELECT DISTINCT ${columns} FROM unnest(${bind(blocks)}::bigint[]) AS wanted (block)
  CROSS JOIN LATERAL (SELECT * FROM (${until('wanted.block')}) AS found ${newest}) AS latest`;
  const [first, last] = [`${bind(from)}::bigint`, `${bind(to)}::bigint`];
  return `SELECT ${columns} FROM (${until(first)}) AS earlier UNION ALL
  SELECT ${columns} FROM (${answers} (SELECT * FROM feed_answers AS quote WHERE ${ofSource} AND quote.block_number > ${first}
    AND quote.block_number <= ${last}) AS quote) AS later`;
}

interface StepsRow {
  readonly is_known: boolean;
  readonly begun_time: number | null;
  /** Block, time, answer, decimals. */
  readonly steps: readonly (readonly [number, number, string, number])[];
  readonly ranges: readonly (readonly [number, number])[];
}

function stepsOf(row: StepsRow | undefined, { heartbeatSeconds = DEFAULT_HEARTBEAT_SECONDS }: PriceFeed): FeedSteps {
  if (row === undefined || !row.is_known) return { at: () => 'unseen' };
  const { steps, begun_time: begun } = row;
  const runs = joinRanges(row.ranges);
  const isFresh = (since: number | null, time: number): boolean => since !== null && time - since <= heartbeatSeconds;
  return {
    at: (block, time) => {
      const step = steps[lastAtOrBefore(steps, block)];
      const run = runs[lastAtOrBefore(runs, block)];
      const needed = step?.[0] ?? runs[0]?.[0];
      if (run === undefined || needed === undefined || run[1] < block || run[0] > needed) return null;
      if (step === undefined) return isFresh(begun, time) ? 'unseen' : null;
      const [, since, answer, decimals] = step;
      return isFresh(since, time) ? priceOfAnswer(answer, decimals) : null;
    },
  };
}

/** Unbroken runs of blocks. */
function joinRanges(ranges: StepsRow['ranges']): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const [first, last] of ranges) {
    const open = runs.at(-1);
    if (open !== undefined && open[1] === first - 1) open[1] = last;
    else runs.push([first, last]);
  }
  return runs;
}

/** Place of the last entry whose first number is at most the block; -1: none. */
function lastAtOrBefore(sorted: readonly (readonly [number, ...unknown[]])[], block: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.[0] ?? 0) <= block) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
