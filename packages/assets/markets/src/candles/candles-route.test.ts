/** Candles of stored swaps: fields, currencies, unknown prices, dust, pages, and refusals. */
import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { type ReadDatabase, type Sql, sql, statementOf } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf, timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import type { PoolId } from '../events/pool-event.ts';
import { cover, seedPools, seedSwaps, seedToken, swapRow } from '../swap-lists/testing/seeded-swaps.ts';
import type { SwapRow } from '../tables/schema.ts';
import { candleStart } from '../trade-values/candle.ts';
import { pairOf } from '../trade-values/price-trade.ts';
import { pairCandlesRoute } from './candles-route.ts';
import { CANDLE_LIMITS, type CandlesQuery, getCandles } from './get-candles.ts';

const eth = createChainRegistry().get('eth');
const [WETH, USDC, CATS] = [
  parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'),
  parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'),
  parseAddress(`0x${'11'.repeat(20)}`),
];
const [PAIR, DOLLAR_PAIR] = [addressOf(0x9a1), addressOf(0x9a2)];
const FEED = eth.etherPrice.feed?.aggregators[0] ?? addressOf(0);
const DOLLAR_FEED = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.aggregators[0] ?? addressOf(0);
const [CAT, ETHER, CENTS] = [10n ** 6n, 10n ** 18n, 10n ** 4n];

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, [pairCandlesRoute]));

beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE swaps, trades, pools, blocks, sync_ranges, tokens, feed_answers`);
  for (const [token, symbol, decimals] of [
    [CATS, 'CATS', 6],
    [WETH, 'WETH', 18],
    [USDC, 'USDC', 6],
  ] as const)
    await seedToken(scratch.database, eth, token, symbol, decimals);
  await cover(scratch.database, eth, 'swaps', 1_000);
  await cover(scratch.database, eth, 'feed-answers', 1_000);
  await seedAnswers(scratch.database, eth, [{ aggregator: DOLLAR_FEED, blockNumber: 0, answer: `${10n ** 8n}` }]);
  await seedPools(scratch.database, eth, [
    { pool: PAIR, tokens: [CATS, WETH] },
    { pool: DOLLAR_PAIR, tokens: [CATS, USDC] },
  ]);
});

const isoOf = (block: number) => new Date(timestampOf(block) * 1_000).toISOString();
const ALL = `fromDate=${isoOf(0)}&toDate=${isoOf(1_000)}`;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly result: readonly Readonly<Record<string, unknown>>[];
  };
}

async function get(pool: string, query: string): Promise<Answer> {
  const response = await api.request(`/api/v2.2/pairs/${pool}/ohlcv?${query}`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** A purchase of CATS. @param paid base units of the quote token */
const buy = (blockNumber: number, cats: bigint, paid: bigint, more: Partial<SwapRow> = {}): SwapRow =>
  swapRow(eth, {
    pool: PAIR,
    token0: CATS,
    token1: WETH,
    blockNumber,
    amount0: `${-cats}`,
    amount1: `${paid}`,
    ...more,
  });
const seed = (...rows: readonly SwapRow[]) => seedSwaps(scratch.database, eth, rows);
const inDollars = { pool: DOLLAR_PAIR, token1: USDC } as const;

describe('a pair against a dollar token', () => {
  test('has the first, highest, lowest and last price of each span, newest first', async () => {
    await seed(
      buy(10, 2n * CAT, 300n * CENTS, inDollars),
      buy(10, CAT, 400n * CENTS, { ...inDollars, logIndex: 1 }),
      // A sale: the signs are the other way round.
      buy(11, -4n * CAT, -400n * CENTS, inDollars),
      buy(12, CAT, 250n * CENTS, inDollars),
      buy(400, CAT, 700n * CENTS, inDollars),
    );
    const { status, body } = await get(DOLLAR_PAIR, `timeframe=1h&${ALL}`);
    const hour = (block: number) => new Date(Math.floor(timestampOf(block) / 3_600) * 3_600_000).toISOString();
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        page: 0,
        cursor: null,
        pairAddress: DOLLAR_PAIR,
        tokenAddress: CATS,
        timeframe: '1h',
        currency: 'usd',
        indexed: { from_block: '0', to_block: '1000', complete: true },
        result: [
          { timestamp: hour(400), open: 7, high: 7, low: 7, close: 7, volume: 7, trades: 1 },
          { timestamp: hour(10), open: 1.5, high: 4, low: 1, close: 2.5, volume: 13.5, trades: 4 },
        ],
      },
    });
  });

  test('leaves trades below a cent out of prices, and counts them', async () => {
    await seed(buy(10, CAT, 300n * CENTS, inDollars), buy(11, 1n, 9_999n, inDollars));
    const { body } = await get(DOLLAR_PAIR, `timeframe=1d&${ALL}`);
    expect(body.result).toMatchObject([{ open: 3, high: 3, low: 3, close: 3, volume: 3.009999, trades: 2 }]);
  });

  test('counts swaps that are no trade, without a price and without volume', async () => {
    await seed(
      buy(10, CAT, 300n * CENTS, inDollars),
      // The pair received both tokens, returned both, and returned nothing.
      buy(11, -1n, 900n * CENTS, inDollars),
      buy(12, 1n, -900n * CENTS, inDollars),
      buy(13, 0n, 900n * CENTS, inDollars),
      buy(14, -CAT, 0n, inDollars),
    );
    const { body } = await get(DOLLAR_PAIR, `timeframe=1d&${ALL}`);
    expect(body.result).toMatchObject([{ open: 3, high: 3, low: 3, close: 3, volume: 3, trades: 5 }]);
  });

  test('has the same candles in ranges that begin or end within one', async () => {
    await seed(...[10, 310, 610].map((block) => buy(block, CAT, BigInt(block) * CENTS, inDollars)));
    const listed = async (timeframe: string, from: number, to: number) =>
      (await get(DOLLAR_PAIR, `timeframe=${timeframe}&fromDate=${isoOf(from)}&toDate=${isoOf(to)}`)).body.result;
    for (const timeframe of ['10s', '5min', '1h', '4h', '12h', '1d', '1w', '1M'] as const) {
      const whole = await listed(timeframe, 0, 1_000);
      for (const [from, to] of [
        [310, 311],
        [11, 310],
        [5, 611],
      ] as const) {
        const part = await listed(timeframe, from, to);
        const spans = whole.filter(({ timestamp }) => {
          const start = Date.parse(String(timestamp)) / 1_000;
          const isBefore = start < timestampOf(to);
          return isBefore && start >= candleStart(timeframe, timestampOf(from));
        });
        expect(part, timeframe).toEqual(spans);
      }
    }
  });

  test('has the price in ether by the price in each block', async () => {
    await seedAnswers(scratch.database, eth, [
      { aggregator: FEED, blockNumber: 5, answer: `${2_000n * 10n ** 8n}` },
      { aggregator: FEED, blockNumber: 11, answer: `${4_000n * 10n ** 8n}` },
    ]);
    await seed(buy(10, CAT, 400n * CENTS, inDollars), buy(11, CAT, 400n * CENTS, inDollars));
    const { body } = await get(DOLLAR_PAIR, `timeframe=1d&currency=native&${ALL}`);
    expect(body.result).toMatchObject([
      { open: 0.002, high: 0.002, low: 0.001, close: 0.001, volume: 8, trades: 2 },
    ]);
  });
});

test('a dollar token is worth the price of its feed', async () => {
  await seedAnswers(scratch.database, eth, [{ aggregator: DOLLAR_FEED, blockNumber: 11, answer: '88000000' }]);
  await seed(buy(10, CAT, 400n * CENTS, inDollars), buy(11, CAT, 400n * CENTS, inDollars));
  const { body } = await get(DOLLAR_PAIR, `timeframe=1d&${ALL}`);
  expect(body.result).toMatchObject([{ open: 4, high: 4, low: 3.52, close: 3.52, volume: 7.52, trades: 2 }]);
});

describe('a pair against ether', () => {
  const rows = [buy(10, CAT, ETHER / 100n), buy(20, CAT, ETHER / 50n)];
  const answer = (blockNumber: number, dollars: bigint) => ({
    aggregator: FEED,
    blockNumber,
    answer: `${dollars * 10n ** 8n}`,
  });

  test('has no price until all blocks since the price of ether are indexed, and the same one in any order', async () => {
    await scratch.database.query(sql`DELETE FROM sync_ranges WHERE dataset = 'feed-answers'`);
    await seed(...rows);
    const unknown = [{ open: null, high: null, low: null, close: null, volume: null, trades: 2 }];
    expect((await get(PAIR, `timeframe=1d&${ALL}`)).body.result).toMatchObject(unknown);
    await seedAnswers(scratch.database, eth, [answer(15, 3_000n), answer(2, 2_000n)]);
    expect((await get(PAIR, `timeframe=1d&${ALL}`)).body.result).toMatchObject(unknown);
    await cover(scratch.database, eth, 'feed-answers', 12);
    expect((await get(PAIR, `timeframe=1d&${ALL}`)).body.result).toMatchObject(unknown);
    expect((await get(PAIR, `timeframe=1d&currency=native&${ALL}`)).body.result).toMatchObject(unknown);
    await scratch.database.query(sql`UPDATE sync_ranges SET last_block = 1000 WHERE dataset = 'feed-answers'`);
    expect((await get(PAIR, `timeframe=1d&${ALL}`)).body.result).toMatchObject([
      { open: 20, high: 60, low: 20, close: 60, volume: 80, trades: 2 },
    ]);
    expect((await get(PAIR, `timeframe=1d&currency=native&${ALL}`)).body.result).toMatchObject([
      { open: 0.01, high: 0.02, low: 0.01, close: 0.02, volume: 80, trades: 2 },
    ]);
  });
});

describe('pages', () => {
  beforeEach(() =>
    seed(...Array.from({ length: 40 }, (_, index) => buy(10 + index, CAT, BigInt(index + 1) * CAT, inDollars))),
  );

  test('contain each candle once, and end before later blocks', async () => {
    const shown: unknown[] = [];
    let page = await get(DOLLAR_PAIR, `timeframe=1s&limit=7&${ALL}`);
    await seed(buy(900, CAT, CAT, inDollars));
    for (;;) {
      shown.push(...page.body.result.map(({ open }) => open));
      if (page.body.cursor === null) break;
      page = await get(DOLLAR_PAIR, `cursor=${page.body.cursor}`);
      expect(page.body.timeframe).toBe('1s');
    }
    expect(shown).toEqual(Array.from({ length: 40 }, (_, index) => 40 - index));
  });

  test('begin at fromDate, and end before toDate', async () => {
    const { body } = await get(DOLLAR_PAIR, `timeframe=1s&fromDate=${isoOf(12)}&toDate=${isoOf(15)}`);
    expect(body.result.map(({ open }) => open)).toEqual([5, 4, 3]);
  });

  test('are built of parts of any size', async () => {
    const query: CandlesQuery = {
      ...{
        pool: DOLLAR_PAIR as PoolId,
        pair: pairOf(CATS, USDC, eth),
        decimals: { base: 6, quote: 6 },
        limit: 100,
      },
      timeframe: '1min',
      currency: 'usd',
      times: { from: timestampOf(0), to: timestampOf(1_001) },
      pinnedBlock: null,
    };
    const whole = await getCandles(scratch.database, eth, query);
    expect(whole.candles.length).toBeGreaterThan(2);
    for (const part of [1, 3, 7, 40, 41])
      expect(await getCandles(scratch.database, eth, query, { ...CANDLE_LIMITS, part })).toEqual(whole);
    // A page that reaches the limit of swaps leaves its last candle to the next page.
    const cut = await getCandles(scratch.database, eth, query, { ...CANDLE_LIMITS, part: 10, swapsMax: 20 });
    expect(cut.hasMore).toBe(true);
    expect(cut.candles).toEqual(whole.candles.slice(0, cut.candles.length));
    const limits = { ...CANDLE_LIMITS, part: 10, swapsMax: 20 };
    await expect(getCandles(scratch.database, eth, { ...query, timeframe: '30min' }, limits)).rejects.toThrow(
      'A candle has more than 20 swaps. Request a smaller timeframe.',
    );
    // Hours of a wider one are stored later. It is refused before its swaps are read.
    let parts = 0;
    const counted: ReadDatabase = {
      ...scratch.database,
      select: (statement: Sql) => {
        if (statementOf(statement).text.includes('AS packed')) parts += 1;
        return scratch.database.select(statement);
      },
    };
    await expect(getCandles(counted, eth, { ...query, timeframe: '1M' }, limits)).rejects.toMatchObject({
      ...{ code: 'SWAPS_NOT_SUMMED', status: 503, retryable: true },
    });
    expect(parts).toBe(1);
  });
});

test('a pool without a proof, or with more than two tokens, is unknown', async () => {
  const [unproven, many] = [addressOf(0xfa4e), addressOf(0xfa4f)];
  await seedPools(scratch.database, eth, [
    { pool: unproven, tokens: [CATS, USDC], status: 'unproven' },
    { pool: many, tokens: null },
  ]);
  for (const pool of [unproven, many, addressOf(0xdead)])
    expect(await get(pool, ALL)).toEqual({ status: 404, body: { message: 'Pair not found' } });
});

test.each([
  ['', 'fromDate is required'],
  [`fromDate=${isoOf(1)}`, 'toDate is required'],
  [`fromDate=${isoOf(2)}&toDate=${isoOf(2)}`, `fromDate must be before toDate (${isoOf(2)})`],
  [`${ALL}&timeframe=2h`, 'timeframe'],
  [`${ALL}&currency=eur`, 'currency'],
  [`${ALL}&cursor=x`, 'cursor'],
])('?%s is refused', async (query, message) => {
  const { status, body } = await get(DOLLAR_PAIR, query);
  expect(status).toBe(400);
  expect(body.message).toContain(message);
});
