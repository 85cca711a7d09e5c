/** The schedule that stores candles: it starts, stores the hours that are due, stops, and takes over what a dead worker left. */
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, expect, test } from 'vitest';
import { computeCandles } from '../pool-candles/compute-candles.ts';
import { seedSwaps, swapRow } from '../swap-lists/testing/seeded-swaps.ts';
import {
  claimSpan,
  createHourExaminer,
  listMissingHours,
  readStorableBlocks,
  storeClaimed,
} from './storable-hours.ts';
import { createCandleSchedules } from './store-candles.ts';
import { CATS, eth, FEED, POOL, seedEtherPool, WETH } from './testing/ether-pool.ts';

/** 300 blocks an hour. Block 0 is 1,600 seconds after the start of an hour, and the first of the chain: 40 hours are whole. */
const LAST = 12_000;
const HOURS = 40;

const scratch = scratchOfFile();

beforeEach(async () => {
  const { database } = scratch;
  await seedEtherPool(database, LAST, LAST);
  await seedAnswers(database, eth, [{ aggregator: FEED, blockNumber: 0, answer: `${2_000n * 10n ** 8n}` }]);
  const numbers = Array.from({ length: LAST / 150 + 1 }, (_, place) => place * 150);
  await seedSwaps(
    database,
    eth,
    numbers.map((blockNumber) => swapRow(eth, { pool: POOL, token0: CATS, token1: WETH, blockNumber })),
  );
});

function runOnce(signal = new AbortController().signal): Promise<void> {
  const [schedule] = createCandleSchedules({ database: scratch.database, chains: [{ chain: eth }] });
  if (schedule === undefined) throw new Error('There is no schedule');
  expect(schedule.name).toBe('pool-candles-eth');
  return schedule.run(signal);
}

async function storedHours(): Promise<readonly number[]> {
  const rows = await scratch.database.query<{ start: number }>(
    sql`SELECT start FROM candle_spans WHERE hours = 1 AND is_stored ORDER BY start`,
  );
  return rows.map(({ start }) => start);
}

const rowsOf = () =>
  scratch.database.query(sql`SELECT start, buys, sells, prices FROM pool_candles WHERE hours = 1 ORDER BY start`);

/** The newest hour as a worker finds it. */
async function newestHour() {
  const { database } = scratch;
  const storable = await readStorableBlocks(database, eth);
  const examine = createHourExaminer(database, eth, storable);
  for (const hour of await listMissingHours(database, eth, storable, 100)) {
    const span = await examine(hour);
    if (span !== null) return span;
  }
  throw new Error('No hour is due');
}

test('stores the hours that are due, and does nothing at the next turn', async () => {
  const { start } = await newestHour();
  await runOnce();
  const [hours, rows] = [await storedHours(), await rowsOf()];
  expect(hours).toEqual(Array.from({ length: HOURS }, (_, place) => start - HOURS + 1 + place));
  expect(rows.length).toBe(HOURS);
  const claims = await scratch.database.query(sql`SELECT claim FROM candle_spans ORDER BY hours, start`);
  await runOnce();
  expect(await scratch.database.query(sql`SELECT claim FROM candle_spans ORDER BY hours, start`)).toEqual(claims);
});

test('stores nothing once the process ends', async () => {
  await runOnce(AbortSignal.abort());
  expect(await storedHours()).toEqual([]);
  await runOnce();
  expect((await storedHours()).length).toBe(HOURS);
});

test('takes over a span whose worker died after its claim, once the claim has expired', async () => {
  const { database } = scratch;
  const span = await newestHour();
  const claim = await claimSpan(database, eth, span);
  expect(claim).not.toBeNull();
  // The worker is killed here.
  await runOnce();
  expect(await storedHours()).not.toContain(span.start);
  expect((await storedHours()).length).toBe(HOURS - 1);
  await database.query(
    sql`UPDATE candle_spans SET claimed_at = now() - interval '601 seconds' WHERE claim = ${claim}`,
  );
  await runOnce();
  expect((await storedHours()).length).toBe(HOURS);
  const rows = await rowsOf();
  expect(rows.length).toBe(HOURS);
  // Had it only been slow, it finds that it lost the claim.
  const blocks = { from: span.firstBlock, to: span.lastBlock };
  const candles = await computeCandles(database, eth, span.start, blocks, 'proven');
  const late = { span, claim: claim ?? '', candles, keepsTraders: true, uncertain: [] };
  expect(await storeClaimed(database, eth, late)).toBe(false);
  expect(await rowsOf()).toEqual(rows);
});

test('two workers at the same time store each hour once', async () => {
  await Promise.all([runOnce(), runOnce()]);
  expect((await storedHours()).length).toBe(HOURS);
  expect((await rowsOf()).length).toBe(HOURS);
});
