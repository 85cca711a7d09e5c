import type { Chain } from '@chainstead/chains';
import type { PriceFeed } from '@chainstead/chains/price-feeds';
import { addressBytes, type Database, hexBytes, sql, type Transaction } from '@chainstead/db';
import { underCommitLock } from '@chainstead/sync/commit-retry';
import { timeOfUpdate } from '../feeds/feed-answers.ts';
import { saveFeedPhases } from '../feeds/price-sources.ts';
import { type BlockIdentity, readFeedStarts } from './feed-starts.ts';
import type { FeedReading } from './read-feeds.ts';

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
