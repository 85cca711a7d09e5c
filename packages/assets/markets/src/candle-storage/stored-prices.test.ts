/** Stored hours whose prices change, and those of the first day of a run of indexed blocks. */
import { feedsOf } from '@chainstead/chains/price-feeds';
import { rawSql, sql, type Transaction } from '@chainstead/db';
import { runProjection } from '@chainstead/sync/ingest';
import { timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers, seedReadings } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, expect, test } from 'vitest';
import { getCandles } from '../candles/get-candles.ts';
import { hourOf } from '../pool-candles/candle-record.ts';
import { candlesOfFeeds } from '../pool-candles/candles-projection.ts';
import { seedSwaps, swapRow } from '../swap-lists/testing/seeded-swaps.ts';
import { pairOf } from '../trade-values/price-trade.ts';
import { storeCandles } from './store-candles.ts';
import { CATS, eth, FEED, POOL, seedEtherPool, WETH } from './testing/ether-pool.ts';

/** 60 hours of 300 blocks, of which 55 are settled. */
const [LAST, SETTLED] = [18_000, 16_500];
/** Blocks of the answers. */
const ANSWERS = [0, 6_000, 12_000];

const scratch = scratchOfFile();

beforeEach(async () => {
  const { database } = scratch;
  await seedEtherPool(database, LAST, SETTLED);
  // One swap in each 20 minutes, of 1 cat for 2 ether.
  const swap = (blockNumber: number) =>
    swapRow(eth, {
      ...{ pool: POOL, token0: CATS, token1: WETH, blockNumber },
      ...{ amount0: `${10n ** 18n}`, amount1: `${-2n * 10n ** 18n}` },
    });
  await seedSwaps(
    database,
    eth,
    Array.from({ length: LAST / 100 + 1 }, (_, place) => swap(place * 100)),
  );
});

const seedAnswersAt = (blocks: readonly number[]) =>
  seedAnswers(
    scratch.database,
    eth,
    blocks.map((blockNumber, place) => ({
      ...{ aggregator: FEED, blockNumber, answer: `${BigInt(2_000 + place * 100) * 10n ** 8n}` },
    })),
  );

const store = () =>
  storeCandles({
    database: scratch.database,
    chain: eth,
    signal: new AbortController().signal,
    now: timestampOf(LAST),
  });

/** Opens in dollars of all hours. */
async function opens(): Promise<readonly (number | null)[]> {
  const { candles } = await getCandles(scratch.database, eth, {
    ...{ pool: POOL, pair: pairOf(CATS, WETH, eth), decimals: { base: 18, quote: 18 } },
    ...{ timeframe: '1h', currency: 'usd', limit: 1_000, pinnedBlock: null },
    times: { from: timestampOf(0), to: timestampOf(LAST + 1) },
  });
  return candles.map(({ prices }) => {
    if (prices === null) return null;
    const { open } = prices;
    return Number(open.numerator / open.denominator);
  });
}

/** Those that no stored hour is used for. */
async function opensOfSwaps(): Promise<readonly (number | null)[]> {
  await scratch.database.query(sql`UPDATE candle_spans SET settings = '-' || settings`);
  const found = await opens();
  await scratch.database.query(sql`UPDATE candle_spans SET settings = substr(settings, 2)`);
  return found;
}

async function validHours(): Promise<readonly number[]> {
  const rows = await scratch.database.query<{ start: number }>(
    sql`SELECT start FROM candle_spans WHERE hours = 1 AND is_stored AND price_changes = 0 ORDER BY start`,
  );
  return rows.map(({ start }) => start);
}

/** Removes the feed values of a block, and adds as many with another value, as a reindex does. */
async function replaceFeedValues(block: number, answer: bigint): Promise<void> {
  await scratch.database.transaction(async (transaction) => {
    await derive(transaction, 'removed', block);
    await transaction.query(sql`UPDATE feed_answers SET answer = ${`${answer}`} WHERE block_number = ${block}`);
    await derive(transaction, 'added', block);
  });
}

async function derive(transaction: Transaction, kind: 'added' | 'removed', block: number): Promise<void> {
  await transaction.query(
    sql`CREATE TEMP TABLE changed_answers ON COMMIT DROP AS SELECT * FROM feed_answers WHERE block_number = ${block}`,
  );
  const [rows, subjects, remaining] = [rawSql('changed_answers'), rawSql(''), rawSql('feed_answers')];
  await runProjection(transaction, false, (access) =>
    candlesOfFeeds[kind]({ rows, subjects, remaining, access }),
  );
  await transaction.query(sql`DROP TABLE changed_answers`);
}

test('a changed feed value makes the hours invalid whose prices may follow from it, until they are stored again', async () => {
  await seedAnswersAt(ANSWERS);
  await store();
  const before = await validHours();
  const hour = hourOf(timestampOf(6_000));
  await replaceFeedValues(6_000, 3_000n * 10n ** 8n);
  // The heartbeat is 25 hours: an hour that begins later follows from later answers alone.
  expect(await validHours()).toEqual(before.filter((start) => start < hour || start > hour + 25));
  expect(await opens()).toEqual(await opensOfSwaps());
  expect(new Set(await opens())).toEqual(new Set([4_000, 6_000, 4_400]));
  expect(await store()).toBe(26);
  expect(await validHours()).toEqual(before);
  expect(await opens()).toEqual(await opensOfSwaps());
});

test('rows that a reindex removes and adds again leave the hours, also those whose swaps are dropped', async () => {
  await seedAnswersAt(ANSWERS);
  await store();
  const [before, served] = [await validHours(), await opens()];
  await scratch.database.query(sql`DELETE FROM swaps WHERE block_number BETWEEN 300 AND 15000`);
  await replaceFeedValues(6_000, 2_100n * 10n ** 8n);
  expect(await validHours()).toEqual(before);
  expect(await store()).toBe(0);
  expect((await opens()).slice(2, 50)).toEqual(served.slice(2, 50));
});

test('answers that are removed in one transaction and added in a later one are known in between', async () => {
  await seedAnswersAt(ANSWERS);
  await store();
  const [before, served] = [await validHours(), await opens()];
  await scratch.database.query(sql`CREATE TABLE IF NOT EXISTS set_aside_answers (LIKE feed_answers)`);
  await scratch.database.transaction(async (transaction) => {
    await derive(transaction, 'removed', 12_000);
    await transaction.query(
      sql`INSERT INTO set_aside_answers SELECT * FROM feed_answers WHERE block_number = 12000`,
    );
    await transaction.query(sql`DELETE FROM feed_answers WHERE block_number = 12000`);
  });
  expect(await opens()).toEqual(await opensOfSwaps());
  expect(await store()).toBeGreaterThan(10);
  expect(await opens()).toEqual(await opensOfSwaps());
  await scratch.database.transaction(async (transaction) => {
    await transaction.query(sql`INSERT INTO feed_answers SELECT * FROM set_aside_answers`);
    await derive(transaction, 'added', 12_000);
  });
  expect(await opens()).toEqual(served);
  await store();
  expect([await validHours(), await opens()]).toEqual([before, served]);
});

test('hours of the first day are stored if every feed has a value from the start', async () => {
  const { database } = scratch;
  await database.query(sql`UPDATE sync_ranges SET first_block = 6000 WHERE dataset = 'feed-answers'`);
  await seedAnswersAt([6_500]);
  await store();
  // 25 hours of 300 blocks after the first indexed one.
  const later = await validHours();
  expect(later[0]).toBe(hourOf(timestampOf(6_000 + 7_500)) + 1);
  await seedReadings(
    database,
    eth,
    feedsOf(eth).map(({ proxy }) => ({ feed: proxy, block: 6_000, answer: `${1_900n * 10n ** 8n}` })),
  );
  await database.query(sql`TRUNCATE candle_spans, pool_candles`);
  await store();
  const [first] = await database.query<{ start: number; prices: number }>(
    sql`SELECT start, prices_from_block AS prices FROM candle_spans WHERE hours = 1 ORDER BY start LIMIT 1`,
  );
  expect(first).toEqual({ start: hourOf(timestampOf(6_000)) + 1, prices: 6_000 });
  const served = await opens();
  expect(served).toEqual(await opensOfSwaps());
  // A backfill below changes none of them.
  await database.query(sql`UPDATE sync_ranges SET first_block = 0 WHERE dataset = 'feed-answers'`);
  await seedAnswersAt([100]);
  const stored = hourOf(timestampOf(LAST)) - (first?.start ?? 0) + 1;
  // Newest first.
  expect((await opens()).slice(0, stored)).toEqual(served.slice(0, stored));
  expect((await opensOfSwaps()).slice(0, stored)).toEqual(served.slice(0, stored));
});

test('hours of the first day wait if one feed has no value at the start', async () => {
  const { database } = scratch;
  await database.query(sql`UPDATE sync_ranges SET first_block = 6000 WHERE dataset = 'feed-answers'`);
  const [, ...others] = feedsOf(eth);
  await seedReadings(
    database,
    eth,
    others.map(({ proxy }) => ({ feed: proxy, block: 6_000 })),
  );
  await store();
  expect((await validHours())[0]).toBe(hourOf(timestampOf(6_000 + 7_500)) + 1);
});
