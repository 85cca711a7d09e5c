import type { Chain } from '@chainstead/chains';
import { feedsOf } from '@chainstead/chains/price-feeds';
import { inParts, type Logger } from '@chainstead/core';
import { addressBytes, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import type { StateKind, StateReader } from '@chainstead/node-reads';
import { knownBlock, type NodeReadQueue, SILENCE_MS, unlessUnavailable } from '@chainstead/node-reads/requests';
import { z } from '@hono/zod-openapi';
import { feedAnswers } from '../feeds/feed-answers.ts';
import { readFeedsAt } from './read-starts.ts';

type FeedReadingQuestion = { readonly blocks: readonly number[] };

/** The result only confirms that the readings are stored. */
const FEED_READINGS: StateKind<FeedReadingQuestion, { readonly blocks: number }> = {
  name: 'feed-readings',
  question: z.object({ blocks: z.array(z.int()).min(1) }),
  answer: z.object({ blocks: z.int() }),
  callsOf: ({ blocks }) => blocks.length,
  // Without an archive node, all fail.
  failsAlike: () => '',
};

export const feedReadingsReader: StateReader<FeedReadingQuestion, { readonly blocks: number }> = {
  kind: FEED_READINGS,
  async read(context, { blocks }, signal) {
    let read = 0;
    for (const number of blocks) {
      const block = await knownBlock(context.database, context.chain, number);
      if (block === null) continue;
      await readFeedsAt(context, block, feedsOf(context.chain), signal);
      read += 1;
    }
    return { blocks: read };
  },
};

interface FeedReadingSources {
  readonly database: ReadDatabase;
  readonly nodeReads: NodeReadQueue;
  readonly logger: Logger;
}

/** Blocks per question. */
const TOGETHER = 10;
/** Blocks per request. Later requests read the rest. */
const BLOCKS_MAX = 200;

/** Late readings serve later requests. @returns whether all arrived in time */
export async function requestFeedReadings(
  { database, nodeReads, logger }: FeedReadingSources,
  chain: Chain,
  blocks: readonly number[],
): Promise<boolean> {
  const wanted = await blocksToRead(database, chain, blocks);
  if (wanted.length === 0) return false;
  const ask = async (some: readonly number[]): Promise<boolean> => {
    const read = nodeReads.request(chain, FEED_READINGS, { blocks: some }, { fruitlessMs: SILENCE_MS });
    const missing = { message: 'Could not read price feeds', chain: chain.key };
    return (await unlessUnavailable(logger, missing, read, true)) !== null;
  };
  return (await Promise.all(inParts(wanted, TOGETHER).map(ask))).every((isRead) => isRead);
}

/** Blocks that are not indexed and lack a reading of some feed, newest first. */
async function blocksToRead(
  database: ReadDatabase,
  chain: Chain,
  blocks: readonly number[],
): Promise<readonly number[]> {
  const feeds = feedsOf(chain);
  if (blocks.length === 0 || feeds.length === 0) return [];
  const rows = await database.select<{ block: number }>(
    sql`SELECT wanted.block FROM unnest(${[...new Set(blocks)]}::bigint[]) AS wanted(block)
     WHERE NOT EXISTS (SELECT FROM sync_ranges WHERE chain_id = ${chain.id}::bigint AND dataset = ${feedAnswers.name}
         AND wanted.block BETWEEN first_block AND last_block)
       AND (SELECT count(*) FROM feed_readings AS reading WHERE reading.feed = ANY (${feeds.map(({ proxy }) => addressBytes(proxy))}::bytea[]) AND reading.chain_id = ${chain.id}::bigint
         AND reading.block_number = wanted.block AND (reading.status <> 'unavailable' OR reading.read_at > now() - interval '1 day')) < ${feeds.length}::int
     ORDER BY wanted.block DESC LIMIT ${rawSql(BLOCKS_MAX)}`,
  );
  return rows.map(({ block }) => Number(block));
}
