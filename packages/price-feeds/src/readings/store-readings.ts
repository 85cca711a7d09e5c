import type { Chain, PriceFeed } from '@chainstead/chains';
import { addressBytes, type Database, hexBytes, sql, type Transaction } from '@chainstead/db';
import { underCommitLock } from '@chainstead/sync';
import type { BlockRun } from '../feeds/block-runs.ts';
import { timeOfUpdate } from '../feeds/feed-answers.ts';
import { saveFeedPhases } from '../feeds/price-sources.ts';
import { type FeedStart, type KnownBlock, readFeedStarts } from './feed-starts.ts';
import type { FeedReading } from './read-feeds.ts';

/**
 * Stores readings of feeds at a block. A reading never changes a price: none is stored if the feed has a value at or before the block in the run
 * of indexed blocks. None is stored if the block is no longer canonical.
 * @returns the feeds whose reading was stored
 */
export async function storeReadings(
  database: Database,
  chain: Chain,
  block: KnownBlock,
  readings: readonly (readonly [PriceFeed, FeedReading])[],
): Promise<readonly PriceFeed[]> {
  // Neither rows nor reorgs arrive meanwhile.
  return underCommitLock(database, chain, async (transaction) => {
    if (!(await isCanonical(transaction, chain, block))) return [];
    const starts = await readFeedStarts(transaction, chain, (runs) => runs.filter((run) => isIn(run, block)));
    const stored: PriceFeed[] = [];
    for (const [feed, reading] of readings) {
      const start = starts.find(({ feed: { proxy } }) => proxy === feed.proxy);
      // Outside of the indexed blocks, a reading counts at the end of its block alone.
      if (start !== undefined && hasValue(start, block)) continue;
      await insertReading(transaction, chain, { feed, block, reading });
      stored.push(feed);
    }
    return stored;
  });
}

function isIn([first, last]: BlockRun, { number }: KnownBlock): boolean {
  return first <= number && number <= last;
}

function hasValue({ valueFrom }: FeedStart, { number }: KnownBlock): boolean {
  return valueFrom !== null && valueFrom <= number;
}

async function isCanonical(transaction: Transaction, { id }: Chain, { number, hash }: KnownBlock): Promise<boolean> {
  const rows = await transaction.query(
    sql`SELECT 1 FROM blocks WHERE chain_id = ${id} AND block_number = ${number} AND block_hash = ${hexBytes(hash)}`,
  );
  return rows.length > 0;
}

async function insertReading(
  transaction: Transaction,
  chain: Chain,
  { feed, block, reading }: { readonly feed: PriceFeed; readonly block: KnownBlock; readonly reading: FeedReading },
): Promise<void> {
  const answer = reading.status === 'answer' ? reading.answer : null;
  // Its logs after the block count from now on.
  if (answer !== null) await saveFeedPhases(transaction, chain, feed, [answer]);
  await transaction.query(
    sql`INSERT INTO feed_readings (feed, chain_id, block_number, status, aggregator, round, answer, decimals, updated_at)
     VALUES (${addressBytes(feed.proxy)}, ${chain.id}, ${block.number}, ${reading.status}, ${answer === null ? null : addressBytes(answer.aggregator)}, ${answer?.round.toString() ?? null}, ${answer?.answer.toString() ?? null}, ${answer?.decimals ?? null}, ${answer === null ? null : timeOfUpdate(answer.updatedAt)})
     ON CONFLICT (feed, chain_id, block_number) DO UPDATE SET status = excluded.status, aggregator = excluded.aggregator, round = excluded.round,
       answer = excluded.answer, decimals = excluded.decimals, updated_at = excluded.updated_at, read_at = now()
     WHERE feed_readings.status = 'unavailable'`,
  );
}
