/** Stored candles and figures against those from swaps: after reorgs, late proofs, changed settings, and dropped swaps. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { hexBytes, rawSql, runStatements, type Sql, sql } from '@chainstead/db';
import { createDueWork } from '@chainstead/jobs/worker';
import { runProjection } from '@chainstead/sync/ingest';
import { addressOf, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { saveTokenMetadata } from '@chainstead/tokens';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { CANDLE_LIMITS, getCandles } from '../candles/get-candles.ts';
import { candlesOfSwaps, markPoolStale } from '../pool-candles/candles-projection.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { cover, seedPools, seedSwaps, seedToken, swapRow } from '../swap-lists/testing/seeded-swaps.ts';
import type { SwapRow } from '../tables/schema.ts';
import { readTradeFigures } from '../trade-figures/read-trade-figures.ts';
import { type CandlePrices, type FiguredPool, TIMEFRAMES, type Timeframe } from '../trade-values/candle.ts';
import { CURRENCIES, pairOf } from '../trade-values/price-trade.ts';
import { addOutdatedCandles } from './outdated-candles.ts';
import { storeCandles } from './store-candles.ts';

const eth = createChainRegistry().get('eth');
const [WETH, USDC, CATS] = [
  parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'),
  parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'),
  parseAddress(`0x${'11'.repeat(20)}`),
];
const FEED = eth.etherPrice.feed?.aggregators[0] ?? addressOf(0);
const DOLLAR_FEED = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.aggregators[0] ?? addressOf(0);
const pool = (number: number, token1: typeof WETH, decimals1: number): FiguredPool => ({
  ...{ pool: addressOf(number), token0: CATS, token1, decimals: [6, decimals1] },
});
const [DOLLARS, ETHER, LATE] = [pool(0x9a1, USDC, 6), pool(0x9a2, WETH, 18), pool(0x9a3, USDC, 6)];
/** 60 hours of blocks, of which one UTC day is settled whole. */
const [LAST, SETTLED] = [18_000, 17_000];

const scratch = scratchOfFile();
/** Numbers of a seed, from 0 to `end` - 1. */
function numbersOf(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * end);
  };
}

let number = numbersOf(1);

function randomSwap(own: FiguredPool, blockNumber: number, transactionIndex: number): SwapRow {
  const [cats, paid] = [BigInt(number(5_000_000)), BigInt(number(9_000_000))];
  const units = own.token1 === WETH ? 10n ** 10n : 1n;
  const sign = number(2) === 0 ? 1n : -1n;
  return swapRow(eth, {
    ...{ pool: own.pool, token0: CATS, token1: own.token1, blockNumber, transactionIndex },
    ...{ amount0: `${sign * cats}`, amount1: `${-sign * paid * units}`, wallet: addressOf(0xa00 + number(12)) },
  });
}

beforeEach(async () => {
  const { database } = scratch;
  number = numbersOf(1);
  await database.query(
    sql`TRUNCATE swaps, trades, pools, blocks, sync_ranges, sync_chains, tokens, feed_answers, candle_spans, stale_candles, pool_candles, changed_decimals`,
  );
  await seedToken(database, eth, CATS, 'CATS', 6);
  await seedToken(database, eth, WETH, 'WETH', 18);
  await seedToken(database, eth, USDC, 'USDC', 6);
  await cover(database, eth, 'swaps', LAST);
  await cover(database, eth, 'feed-answers', LAST);
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint, finalized) VALUES (${eth.id}, 0, 0, ${LAST}, ${SETTLED})`,
  );
  // The third gap is longer than a heartbeat.
  await seedAnswers(
    database,
    eth,
    [0, 1_500, 2_500, 11_000, 14_000].flatMap((blockNumber, place) => [
      { aggregator: DOLLAR_FEED, blockNumber, answer: `${10n ** 8n - BigInt(place) * 10n ** 6n}` },
      { aggregator: FEED, blockNumber, answer: `${BigInt(2_000 + place * 37) * 10n ** 8n}` },
    ]),
  );
  await seedPools(database, eth, [
    { pool: DOLLARS.pool, tokens: [CATS, USDC] },
    { pool: ETHER.pool, tokens: [CATS, WETH] },
    { pool: LATE.pool, tokens: [CATS, USDC], status: 'unproven' },
  ]);
  const blocks = Array.from({ length: 300 }, () => number(LAST)).toSorted((one, other) => one - other);
  const rows = blocks.map((block, place) =>
    randomSwap([DOLLARS, ETHER, LATE][number(3)] ?? DOLLARS, block, place),
  );
  await seedSwaps(database, eth, [...rows, randomSwap(DOLLARS, 0, 999), randomSwap(ETHER, LAST, 999)]);
});

const store = (chain: Chain = eth) =>
  storeCandles({
    database: scratch.database,
    chain,
    signal: new AbortController().signal,
    now: timestampOf(LAST),
  });

interface Reading {
  /** Limit of the first statement. */
  readonly spans?: number;
  /** Unix seconds. */
  readonly to?: number;
}

const candlesOf = (
  own: FiguredPool,
  timeframe: Timeframe,
  chain: Chain = eth,
  { spans = CANDLE_LIMITS.spans, to = timestampOf(LAST + 1) }: Reading = {},
) =>
  Promise.all(
    CURRENCIES.map(async (currency) => {
      const pair = pairOf(own.token0, own.token1, chain);
      const decimals = pair.isQuotedIn0
        ? { base: own.decimals[1], quote: own.decimals[0] }
        : { base: own.decimals[0], quote: own.decimals[1] };
      const query = {
        ...{ pool: own.pool, pair, decimals, timeframe, currency, limit: 10_000, pinnedBlock: null },
        times: { from: timestampOf(100), to },
      };
      const page = await getCandles(scratch.database, chain, query, { ...CANDLE_LIMITS, spans });
      return page.candles.map(({ prices, ...rest }) => ({ ...rest, prices: prices && shown(prices) }));
    }),
  );

/** Equal fractions may have different numerators. */
function shown(prices: CandlePrices) {
  return Object.values(prices).map(({ numerator, denominator }) => (numerator * 10n ** 40n) / denominator);
}

/** Windows that end now, earlier ones, and ones within an hour. */
const SPANS = [300, 3_600, 21_600, 86_400, 7 * 86_400]
  .map((seconds) => ({ from: timestampOf(LAST) - seconds, to: timestampOf(LAST) + 1 }))
  .concat([
    { from: timestampOf(1_000), to: timestampOf(9_000) },
    { from: timestampOf(9_010), to: timestampOf(9_020) },
    { from: 1_600_092_000, to: 1_600_160_400 },
  ]);

/** Place of the window of whole hours. */
const WHOLE_HOURS = SPANS.length - 1;

async function everything(timeframes: readonly Timeframe[], pools = [DOLLARS, ETHER], chain: Chain = eth) {
  const groups = pools.map((pool) => ({ key: pool.pool, pools: [{ pool, isReversed: false }] }));
  const figures = await readTradeFigures(scratch.database, chain, { groups, spans: SPANS, lastBlock: LAST });
  return { figures, candles: await allCandles(timeframes, pools, chain) };
}

async function allCandles(
  timeframes: readonly Timeframe[],
  pools: FiguredPool[],
  chain: Chain,
  reading?: Reading,
) {
  const candles = [];
  for (const own of pools)
    for (const timeframe of timeframes) candles.push(await candlesOf(own, timeframe, chain, reading));
  return candles;
}

/** Compares with a reading that finds no stored span, and with one in several statements. */
async function expectSame(timeframes: readonly Timeframe[], pools = [DOLLARS, ETHER], chain: Chain = eth) {
  const found = await everything(timeframes, pools, chain);
  expect(await allCandles(timeframes, pools, chain, { spans: 4 })).toEqual(found.candles);
  await scratch.database.query(sql`UPDATE candle_spans SET settings = '-' || settings`);
  expect(found).toEqual(await everything(timeframes, pools, chain));
  await scratch.database.query(sql`UPDATE candle_spans SET settings = substr(settings, 2)`);
}

const HOURLY: readonly Timeframe[] = ['1h', '1d', '1M'];
const count = async (table: string) => {
  const [row] = await scratch.database.query<{ n: number }>(sql`SELECT count(*)::int AS n FROM ${rawSql(table)}`);
  return row?.n;
};

/** Changes rows as a commit does. */
async function change(kind: 'added' | 'removed', where: Sql): Promise<void> {
  await scratch.database.transaction(async (transaction) => {
    const source = rawSql(kind === 'added' ? 'set_aside' : 'swaps');
    await transaction.query(
      sql`CREATE TEMP TABLE changed_swaps ON COMMIT DROP AS SELECT * FROM ${source} WHERE ${where}`,
    );
    if (kind === 'removed') {
      await transaction.query(sql`INSERT INTO set_aside SELECT * FROM changed_swaps`);
      await transaction.query(sql`DELETE FROM swaps WHERE ${where}`);
    } else await transaction.query(sql`INSERT INTO swaps SELECT * FROM changed_swaps`);
    await runProjection(transaction, false, (access) =>
      candlesOfSwaps[kind]({
        ...{ rows: rawSql('changed_swaps'), subjects: rawSql(''), remaining: rawSql('swaps'), access },
      }),
    );
  });
}

test('stored hours and days have the candles and figures of their swaps', async () => {
  const live = await everything(TIMEFRAMES);
  // The first hour is not whole, and the last ones are not settled.
  expect(await store()).toBeGreaterThan(50);
  expect(await store()).toBe(0);
  expect(await everything(TIMEFRAMES)).toEqual(live);
  const [days] = await scratch.database.query<{ n: number }>(
    sql`SELECT count(*)::int AS n FROM candle_spans WHERE hours = 24 AND is_stored`,
  );
  expect(days?.n).toBe(1);
});

test('candles until a year ahead are those until now', async () => {
  await store();
  const pools = [DOLLARS, ETHER];
  const ahead = { to: timestampOf(LAST) + 365 * 86_400 };
  expect(await allCandles(HOURLY, pools, eth, ahead)).toEqual(await allCandles(HOURLY, pools, eth));
});

test('stored candles and figures outlive their swaps', async () => {
  await store();
  const [{ candles, figures }, [hour]] = [
    await everything(['1h', '1d']),
    await scratch.database.query<{ firstBlock: number }>(
      sql`SELECT first_block FROM candle_spans WHERE hours = 1 ORDER BY start DESC LIMIT 1`,
    ),
  ];
  // Retention drops partitions without a change of rows.
  await scratch.database.query(
    sql`DELETE FROM swaps WHERE block_number < ${hour?.firstBlock ?? null} AND block_number >= 400`,
  );
  const after = await everything(['1h', '1d']);
  expect(after.candles.map(([usd]) => usd?.slice(0, -2))).toEqual(candles.map(([usd]) => usd?.slice(0, -2)));
  expect(after.figures.get(ETHER.pool)?.[WHOLE_HOURS]).toEqual(figures.get(ETHER.pool)?.[WHOLE_HOURS]);
});

describe('changed rows', () => {
  beforeEach(() => scratch.database.query(sql`CREATE TABLE IF NOT EXISTS set_aside (LIKE swaps)`));

  test('are in all candles at once, and in stored ones after the next turn, in any order', async () => {
    await store();
    await scratch.database.query(sql`TRUNCATE set_aside`);
    for (let step = 0; step < 6; step += 1) {
      const [from, length] = [number(LAST), number(2_000)];
      const [first, last] = step % 3 === 2 ? [0, LAST] : [from, from + length];
      await change(step % 3 === 2 ? 'added' : 'removed', sql`block_number BETWEEN ${first} AND ${last}`);
      if (step % 3 === 2) await scratch.database.query(sql`TRUNCATE set_aside`);
      if (step % 2 === 0) await expectSame([HOURLY[step % HOURLY.length] ?? '1h']);
      if (step % 4 === 3) {
        await store();
        expect(await count('stale_candles WHERE hours = 1')).toBe(0);
      }
    }
    await store();
    await expectSame(HOURLY);
  });

  test('of a reorg below stored hours leave no stored span above it', async () => {
    await store();
    const before = await count('candle_spans');
    await runStatements(scratch.database, candlesOfSwaps.rolledBack?.(eth.id, 10_000) ?? []);
    expect(await count('candle_spans')).toBeLessThan(before ?? 0);
    const [row] = await scratch.database.query<{ highest: number }>(
      sql`SELECT max(last_block)::int AS highest FROM candle_spans`,
    );
    expect(row?.highest).toBeLessThanOrEqual(10_000);
    await expectSame(['1d']);
    await store();
    expect(await count('candle_spans')).toBe(before);
    await expectSame(['1d']);
  });
});

test('a pool that is proven late has its candles', async () => {
  await store();
  await scratch.database.query(
    sql`UPDATE pools SET status = 'proven', proof = 'factory', is_counted = true WHERE pool = ${hexBytes(LATE.pool)}`,
  );
  await runStatements(scratch.database, [markPoolStale(poolKey(LATE.pool), eth.id, hexBytes(LATE.pool))]);
  await expectSame(HOURLY, [LATE]);
  await store();
  expect(await count('stale_candles WHERE hours = 1')).toBe(0);
  expect((await candlesOf(LATE, '1d')).flat().length).toBeGreaterThan(3);
  await expectSame(HOURLY, [LATE]);
});

test('changed decimals and price settings make stored candles unused', async () => {
  await store();
  const [dollars] = [{ ...DOLLARS, decimals: [6, 8] as const }];
  await expectSame(['1h', '1d'], [dollars]);
  const other: Chain = { ...eth, tokenFeeds: [] };
  await expectSame(['1h', '1d'], [DOLLARS], other);
  expect(await store(other)).toBeGreaterThan(50);
  await expectSame(['1h', '1d'], [DOLLARS], other);
});

/** Stores facts as a worker does after it read them. */
async function readFacts(decimals: number | null): Promise<void> {
  const facts = { name: 'CATS token', symbol: 'CATS', decimals, standard: 'erc20', answered: true } as const;
  await scratch.database.query(
    sql`UPDATE tokens SET facts_status = 'pending' WHERE address = ${hexBytes(CATS)} AND decimals IS NULL`,
  );
  await saveTokenMetadata(scratch.database, eth.id, new Map([[CATS, facts]]));
}

/** Runs the work on changed decimals until none is left. */
async function correct(): Promise<void> {
  const { database } = scratch;
  const work = createDueWork({
    database,
    clock: systemClock,
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
  });
  addOutdatedCandles(work, { database, chains: [{ chain: eth }] });
  work.start();
  await vi.waitFor(async () => expect(await count('changed_decimals')).toBe(0), {
    timeout: 10_000,
    interval: 20,
  });
  await work.close();
}

const storedRows = () =>
  scratch.database.query(
    sql`SELECT hours, start, pool, decimals0, decimals1, swaps, buys, sells, buy_volume, sell_volume, is_valued, prices FROM pool_candles
     ORDER BY hours, start, pool`,
  );

describe('corrected decimals', () => {
  test.each([
    ['wrong', 9],
    ['unknown', null],
  ])('that were %s at first lead to the candles of right ones', async (_, wrong) => {
    await store();
    const expected = await storedRows();
    expect(expected.length).toBeGreaterThan(50);
    await scratch.database.query(sql`TRUNCATE candle_spans, stale_candles, pool_candles, changed_decimals`);
    await readFacts(wrong);
    if (wrong === null)
      await scratch.database.query(sql`UPDATE tokens SET decimals = NULL WHERE address = ${hexBytes(CATS)}`);
    await store();
    expect(await storedRows()).not.toEqual(expected);
    await readFacts(6);
    await correct();
    await expectSame(['1h', '1d']);
    await store();
    expect(await storedRows()).toEqual(expected);
  });

  test('scale the prices of candles whose swaps were dropped', async () => {
    await store();
    const expected = await storedRows();
    await scratch.database.query(sql`TRUNCATE candle_spans, stale_candles, pool_candles, changed_decimals`);
    await readFacts(9);
    await store();
    await scratch.database.query(sql`DELETE FROM swaps WHERE block_number < 12000`);
    await scratch.database.query(sql`UPDATE sync_ranges SET first_block = 12000 WHERE dataset = 'swaps'`);
    await readFacts(6);
    await correct();
    await store();
    expect(await storedRows()).toEqual(expected);
  });
});

test('hours wait for their swaps, and for prices back to the heartbeat', async () => {
  await scratch.database.query(sql`UPDATE sync_ranges SET first_block = 9000 WHERE dataset = 'swaps'`);
  await scratch.database.query(sql`UPDATE sync_ranges SET first_block = 5000 WHERE dataset = 'feed-answers'`);
  await store();
  const [row] = await scratch.database.query<{ first: number; highest: number }>(
    sql`SELECT min(first_block)::int AS first, max(last_block)::int AS highest FROM candle_spans`,
  );
  // 25 hours of 300 blocks.
  expect(row?.first).toBeGreaterThanOrEqual(12_300);
  expect(row?.first).toBeLessThan(13_300);
  expect(row?.highest).toBeLessThanOrEqual(LAST - eth.reorgDepthMax);
  await expectSame(['1h', '1d']);
});
