import type { Chain } from '@chainstead/chains';
import type { PriceFeed } from '@chainstead/chains/price-feeds';
import { ChainsteadError, type Logger } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, sql, type Transaction } from '@chainstead/db';
import { committedBlock } from '@chainstead/node-reads/requests';
import type { UpstreamPool } from '@chainstead/rpc';
import { underCommitLock } from '@chainstead/sync/commit-retry';
import { timeOfUpdate } from '../feeds/feed-answers.ts';
import { saveFeedPhases } from '../feeds/price-sources.ts';
import { type BlockIdentity, type FeedReading, type FeedStart, readFeedStarts, readFeeds } from './read-feeds.ts';

interface FeedReadContext {
  readonly database: Database;
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly logger: Logger;
}

/** At the run's first block, else at the newest. @throws the outage */
export async function readNewestRun(context: FeedReadContext, signal: AbortSignal): Promise<void> {
  const { database, chain } = context;
  const starts = await readFeedStarts(database, chain, (runs) => runs.slice(-1));
  const missing = starts.filter(({ valueFrom }) => valueFrom === null);
  const unread = await readAtFirst(context, missing, signal);
  if (unread.length === 0) return;
  const newest = await committedBlock(database, chain);
  const [start] = unread;
  if (newest === null || start === undefined || newest.number > start.run[1] || newest.number < start.run[0])
    return;
  await readFeedsAt(
    context,
    newest,
    unread.map(({ feed }) => feed),
    signal,
  );
}

const RUNS_MAX = 20;

/** At the first block of each run that has its first value later. @throws the outage */
export async function readStartsOfRuns(context: FeedReadContext, signal: AbortSignal): Promise<void> {
  const starts = await readFeedStarts(context.database, context.chain, (runs) => runs.slice(-RUNS_MAX));
  for (const ofRun of Map.groupBy(starts, ({ run }) => run[0]).values())
    await readAtFirst(context, ofRun, signal);
}

/** Returns those that have no state there. */
async function readAtFirst(
  context: FeedReadContext,
  starts: readonly FeedStart[],
  signal: AbortSignal,
): Promise<readonly FeedStart[]> {
  const wanted = starts.filter(
    ({ first, valueFrom, isUnavailable }) =>
      !isUnavailable && first !== null && (valueFrom === null || valueFrom > first.number),
  );
  const block = wanted[0]?.first ?? null;
  const feeds = wanted.map(({ feed }) => feed);
  const unavailable = block === null ? [] : await readFeedsAt(context, block, feeds, signal);
  return starts.filter(({ feed, isUnavailable }) => isUnavailable || unavailable.includes(feed));
}

/** Returns those whose state no node has. @throws other outages */
export async function readFeedsAt(
  context: FeedReadContext,
  block: BlockIdentity,
  feeds: readonly PriceFeed[],
  signal: AbortSignal,
): Promise<readonly PriceFeed[]> {
  if (feeds.length === 0) return [];
  const { database, chain, logger } = context;
  const read = await readFeeds(context, block, feeds, signal);
  const readings = feeds.flatMap((feed, index) => {
    const reading = read[index];
    return reading === undefined || reading instanceof ChainsteadError ? [] : [[feed, reading] as const];
  });
  const stored = await storeReadings(database, chain, block, readings);
  const ofStatus = (...statuses: readonly string[]) =>
    readings.flatMap(([feed, { status }]) => (statuses.includes(status) ? [feed] : []));
  const fields = { chain: chain.key, block: block.number };
  if (stored.length > 0) logger.info({ ...fields, feeds: stored.length }, 'Price feeds read at a block');
  for (const { proxy } of ofStatus('absent').filter((feed) => stored.includes(feed)))
    logger.warn({ ...fields, feed: proxy }, 'There is no price feed at this address');
  const failure = read.find((reading) => reading instanceof ChainsteadError);
  if (failure !== undefined) throw failure;
  return ofStatus('unavailable');
}

/** Never changes a price: skips feeds with a value in the run. @returns the stored feeds */
export async function storeReadings(
  database: Database,
  chain: Chain,
  block: BlockIdentity,
  readings: readonly (readonly [PriceFeed, FeedReading])[],
): Promise<readonly PriceFeed[]> {
  // Keeps out rows and reorgs.
  return underCommitLock(database, chain, async (transaction) => {
    const canonical = await transaction.query(
      sql`SELECT 1 FROM blocks WHERE chain_id = ${chain.id} AND block_number = ${block.number} AND block_hash = ${hexBytes(block.hash)}`,
    );
    if (canonical.length === 0) return [];
    const starts = await readFeedStarts(transaction, chain, (runs) =>
      runs.filter(([first, last]) => first <= block.number && block.number <= last),
    );
    const stored: PriceFeed[] = [];
    for (const [feed, reading] of readings) {
      const valueFrom = starts.find((start) => start.feed.proxy === feed.proxy)?.valueFrom ?? null;
      // Outside of indexed blocks, a reading counts at its block alone.
      if (valueFrom !== null && valueFrom <= block.number) continue;
      await insertReading(transaction, chain, { feed, block, reading });
      stored.push(feed);
    }
    return stored;
  });
}

async function insertReading(
  transaction: Transaction,
  chain: Chain,
  {
    feed,
    block,
    reading,
  }: { readonly feed: PriceFeed; readonly block: BlockIdentity; readonly reading: FeedReading },
): Promise<void> {
  const answer = reading.status === 'answer' ? reading.answer : null;
  // Its later logs count from now on.
  if (answer !== null) await saveFeedPhases(transaction, chain, feed, [answer]);
  await transaction.query(
    sql`INSERT INTO feed_readings (feed, chain_id, block_number, status, aggregator, round, answer, decimals, updated_at)
     VALUES (${addressBytes(feed.proxy)}, ${chain.id}, ${block.number}, ${reading.status}, ${answer === null ? null : addressBytes(answer.aggregator)}, ${answer?.round.toString() ?? null}, ${answer?.answer.toString() ?? null}, ${answer?.decimals ?? null}, ${answer === null ? null : timeOfUpdate(answer.updatedAt)})
     ON CONFLICT (feed, chain_id, block_number) DO UPDATE SET status = excluded.status, aggregator = excluded.aggregator, round = excluded.round,
       answer = excluded.answer, decimals = excluded.decimals, updated_at = excluded.updated_at, read_at = now()
     WHERE feed_readings.status = 'unavailable'`,
  );
}
