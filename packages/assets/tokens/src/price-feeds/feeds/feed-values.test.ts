/** Values of feeds over stored rows. A block is ten hours long, so that two make a value 20 hours old. */
import { feedsOf } from '@chainstead/chains/price-feeds';
import { addressBytes, sql } from '@chainstead/db';
import { addressOf, coverBlocks, exampleChain, storeBlocks } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { seedReadings } from '../testing/seeded-prices.ts';
import { readFeedSteps, readFeedValues } from './feed-steps.ts';
import { seedPriceSources } from './price-sources.ts';

const [ETHER, DOLLAR, SILENT] = [addressOf(0xe), addressOf(0xd), addressOf(0x5)];
const [FIRST, SECOND, THIRD] = [addressOf(1), addressOf(2), addressOf(3)];
const HOURS = 3_600;
const chain = exampleChain({
  etherPrice: {
    feed: { proxy: ETHER, decimals: 8, aggregators: [FIRST], heartbeatSeconds: 20 * HOURS },
    pools: [],
  },
  tokenFeeds: [
    { proxy: DOLLAR, decimals: 8, aggregators: [SECOND], tokens: [addressOf(10)] },
    { proxy: SILENT, decimals: 8, aggregators: [], tokens: [addressOf(11)] },
  ],
});
const timeOf = (block: number): number => 1_700_000_000 + block * 10 * HOURS;

const scratch = scratchOfFile();
beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE blocks, sync_ranges, feed_answers, feed_readings, price_feed_phases`);
  await storeBlocks(scratch.database, chain.id, 0, 30, { start: timeOf(0), seconds: 10 * HOURS });
  await seedPriceSources(scratch.database, chain);
  await cover(1, 30);
});

async function cover(first: number, last: number): Promise<void> {
  await scratch.database.query(
    sql`DELETE FROM sync_ranges WHERE first_block <= ${last} AND last_block >= ${first}`,
  );
  await coverBlocks(scratch.database, chain.id, 'feed-answers', first, last);
}

const store = (aggregator: typeof FIRST, block: number, answer: string, logIndex = 0): Promise<unknown> =>
  scratch.database.query(
    sql`INSERT INTO feed_answers (aggregator, chain_id, block_number, transaction_index, log_index, round, answer, updated_at)
     VALUES (${addressBytes(aggregator)}, ${chain.id}, ${block}, 0, ${logIndex}, 1, ${answer}, to_timestamp(${timeOf(block)}::float8))`,
  );

async function at(block: number) {
  const found = await readFeedValues(scratch.database, chain, { block, time: timeOf(block) });
  return [ETHER, DOLLAR, SILENT].map((proxy) => {
    const state = found.get(proxy);
    return state?.of === 'value' ? Number(state.value.usd.numerator) / 1e8 : state?.of;
  });
}

test('each feed has the last value of its own aggregators until the end of the block', async () => {
  await store(FIRST, 10, '200000000000', 3);
  await store(FIRST, 10, '210000000000', 4);
  await store(SECOND, 11, '88000000');
  await store(THIRD, 11, '7');
  expect(await at(9)).toEqual(['pending', 'pending', 'pending']);
  expect(await at(10)).toEqual([2_100, 'pending', 'pending']);
  expect(await at(11)).toEqual([2_100, 0.88, 'pending']);
  const found = await readFeedValues(scratch.database, chain, { block: 11, time: timeOf(11) });
  expect(found.get(ETHER)).toEqual({
    of: 'value',
    value: {
      ...{ usd: { numerator: 210_000_000_000n, denominator: 10n ** 8n }, aggregator: FIRST },
      ...{ round: '1', block: 10, log: { transactionIndex: 0, logIndex: 4 } },
    },
  });
});

test('a value is known until it is older than its heartbeat', async () => {
  await store(FIRST, 10, '200000000000');
  await store(SECOND, 10, '100000000');
  expect(await at(12)).toEqual([2_000, 1, 'pending']);
  // 25 hours apply to a feed without a known heartbeat.
  expect(await at(13)).toEqual(['unknown', 'unknown', 'pending']);
});

test('zero and below are no values, also if an earlier one was', async () => {
  await store(FIRST, 10, '200000000000');
  await store(FIRST, 11, '0');
  await store(SECOND, 11, '-100000000');
  expect(await at(11)).toEqual(['unknown', 'unknown', 'pending']);
});

test('a value is pending while a block since then is not indexed', async () => {
  await store(FIRST, 10, '200000000000');
  await cover(11, 30);
  expect(await at(11)).toEqual(['pending', 'pending', 'pending']);
  expect(await at(31)).toEqual(['pending', 'pending', 'pending']);
  await cover(10, 30);
  expect(await at(11)).toEqual([2_000, 'pending', 'pending']);
});

test('a feed without a value is pending', async () => {
  for (const block of [0, 3, 30]) expect(await at(block)).toEqual(['pending', 'pending', 'pending']);
});

describe('a reading', () => {
  const read = (feed: typeof ETHER, block: number, answer: string, updatedBefore = 0): Promise<void> =>
    seedReadings(scratch.database, chain, [
      { feed, block, answer, aggregator: THIRD, round: '7', time: timeOf(block - updatedBefore) },
    ]);

  test('has the value from the end of its block on, until a later log', async () => {
    await read(DOLLAR, 10, '99000000');
    await store(SECOND, 12, '98000000');
    expect([await at(9), await at(10), await at(11), await at(12)].map(([, dollar]) => dollar)).toEqual([
      ...['pending', 0.99, 0.99, 0.98],
    ]);
    const found = await readFeedValues(scratch.database, chain, { block: 11, time: timeOf(11) });
    expect(found.get(DOLLAR)).toEqual({
      of: 'value',
      value: {
        ...{ usd: { numerator: 99_000_000n, denominator: 10n ** 8n }, aggregator: THIRD, round: '7', block: 10 },
        log: null,
      },
    });
  });

  test('comes after the logs of its block', async () => {
    await store(SECOND, 10, '98000000', 9);
    await read(DOLLAR, 10, '99000000');
    expect((await at(10))[1]).toBe(0.99);
  });

  test('is as old as its feed says', async () => {
    await read(DOLLAR, 10, '99000000', 1);
    expect([(await at(11))[1], (await at(12))[1]]).toEqual([0.99, 'unknown']);
  });

  test('counts for the unbroken run of its block alone', async () => {
    await cover(1, 12);
    await cover(14, 30);
    await read(DOLLAR, 12, '99000000');
    expect([(await at(12))[1], (await at(13))[1], (await at(14))[1]]).toEqual([0.99, 'pending', 'pending']);
  });

  test('of a contract without a value or of zero is unknown, and one that no node had is none', async () => {
    await read(ETHER, 10, '0');
    await seedReadings(scratch.database, chain, [
      { feed: DOLLAR, block: 10, status: 'silent' },
      { feed: SILENT, block: 10, status: 'unavailable' },
    ]);
    await store(FIRST, 9, '200000000000');
    await store(SECOND, 9, '99000000');
    expect(await at(9)).toEqual([2_000, 0.99, 'pending']);
    expect(await at(10)).toEqual(['unknown', 'unknown', 'pending']);
  });

  test('of no contract is absent from there on, and before while no aggregator is known', async () => {
    await seedReadings(scratch.database, chain, [
      { feed: DOLLAR, block: 10, status: 'absent' },
      { feed: SILENT, block: 10, status: 'absent' },
    ]);
    await store(SECOND, 12, '98000000');
    const states = await Promise.all([9, 10, 11, 12].map(async (block) => (await at(block)).slice(1)));
    expect(states).toEqual([
      ['pending', 'absent'],
      ['absent', 'absent'],
      ['absent', 'absent'],
      [0.98, 'absent'],
    ]);
  });
});

test('an aggregator that the proxy named counts, in the decimals of the proxy', async () => {
  await scratch.database.query(
    sql`INSERT INTO price_feed_phases (feed, chain_id, aggregator, decimals) VALUES (${addressBytes(SILENT)}, ${chain.id}, ${addressBytes(THIRD)}, 6)`,
  );
  await store(THIRD, 10, '1000000');
  const found = await readFeedValues(scratch.database, chain, { block: 10, time: timeOf(10) });
  expect(found.get(SILENT)).toMatchObject({ value: { usd: { numerator: 10n ** 6n, denominator: 10n ** 6n } } });
});

test('a chain without feeds has no values', async () => {
  expect(await readFeedValues(scratch.database, exampleChain(), { block: 1, time: 1 })).toEqual(new Map());
});

test('steps of a feed have the same prices as a look-up of each block, for close and distant blocks', async () => {
  await cover(1, 12);
  await cover(13, 19);
  await cover(21, 30);
  for (const block of [3, 4, 8, 15, 22, 25]) await store(FIRST, block, String(block * 10 ** 8), block);
  await store(SECOND, 8, '0');
  await store(SECOND, 18, '99000000');
  await seedReadings(scratch.database, chain, [
    { feed: ETHER, block: 21, answer: '100', aggregator: THIRD, time: timeOf(20) },
    { feed: ETHER, block: 22, answer: '200', aggregator: THIRD, time: timeOf(21) },
    { feed: DOLLAR, block: 10, answer: '300', aggregator: THIRD, time: timeOf(10) },
    { feed: DOLLAR, block: 14, status: 'silent' },
    { feed: DOLLAR, block: 21, status: 'absent' },
    { feed: SILENT, block: 15, status: 'absent' },
    { feed: SILENT, block: 16, status: 'unavailable' },
  ]);
  const blocks = Array.from({ length: 31 }, (_, block) => block);
  for (const wanted of [blocks, [2, 28], ...blocks.map((block) => [block])]) {
    const steps = await readFeedSteps(scratch.database, chain, feedsOf(chain), wanted);
    for (const block of wanted) {
      const states = await readFeedValues(scratch.database, chain, { block, time: timeOf(block) });
      for (const { proxy } of feedsOf(chain)) {
        const state = states.get(proxy);
        const expected = state?.of === 'value' ? state.value.usd : state?.of === 'unknown' ? null : state?.of;
        expect(steps.get(proxy)?.at(block, timeOf(block)), `${proxy} at ${block}`).toEqual(expected);
      }
    }
  }
});
