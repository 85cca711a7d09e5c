/** Analytics of tokens over stored pools and trades: windows, sides, unknown values, coverage, batches and steps. */

import { type Address, parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { withServices } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  ALICE,
  BOB,
  balancesOf,
  base,
  CAROL,
  CATS,
  cover,
  DOGS,
  eth,
  HEAD,
  ON_DEMAND,
  START,
  seedMarket,
  seedToken,
  timeOf,
  USDC,
  USDC_OF_BASE,
  WETH,
} from '../testing/seeded-market.ts';
import { seedPool, seedReserves, seedSwap } from '../testing/seeded-pools.ts';
import { multipleTokenAnalyticsRoute, timeSeriesRoute, tokenAnalyticsRoute } from './token-analytics-routes.ts';

const [PAIR, OTHER, ETHER_PAIR, BASE_PAIR] = [0x9a1, 0x9a2, 0x9a3, 0x9a4].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
];
/** Base units. */
const [UNIT, ETHER] = [10n ** 6n, 10n ** 18n];

const scratch = scratchOfFile();
const api = madeForFile(() => {
  const balances = balancesOf(scratch.database);
  return exampleApi(
    scratch.database,
    [withServices(balances, [timeSeriesRoute, tokenAnalyticsRoute, multipleTokenAnalyticsRoute])],
    { onDemand: ON_DEMAND },
  );
});

beforeEach(async () => {
  const { database } = scratch;
  await seedMarket(database);
  await seedToken(database, eth, CATS, { symbol: 'CATS', supply: 10_000_000n });
  await seedPool(database, eth, { pool: PAIR, tokens: [CATS, USDC] });
  await seedPool(database, eth, { pool: OTHER, tokens: [CATS, WETH], exchange: 'Sushiswap v2' });
  await seedReserves(database, eth, PAIR, 10, [1_000_000n * UNIT, 1_000_000n * UNIT]);
  await seedReserves(database, eth, PAIR, 395, [1_000_000n * UNIT, 1_050_000n * UNIT]);
  await seedReserves(database, eth, OTHER, 10, [100_000n * UNIT, 50n * ETHER]);
  const inDollars = { pool: PAIR, tokens: [CATS, USDC] } as const;
  const inEther = { pool: OTHER, tokens: [CATS, WETH] } as const;
  const swaps = [
    { ...inDollars, block: 400, amounts: [-90n * UNIT, 100n * UNIT], wallet: ALICE },
    { ...inDollars, block: 399, amounts: [50n * UNIT, -49n * UNIT], wallet: BOB },
    { ...inEther, block: 390, amounts: [-190n * UNIT, ETHER / 10n], wallet: ALICE },
    { ...inEther, block: 330, amounts: [99n * UNIT, -ETHER / 20n], wallet: ALICE },
    { ...inDollars, block: 113, amounts: [-9n * UNIT, 10n * UNIT], wallet: CAROL },
    { ...inDollars, block: 112, amounts: [-8n * UNIT, 7n * UNIT], wallet: BOB },
  ] as const;
  for (const swap of swaps) await seedSwap(database, eth, swap);
});

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

async function request(path: string, body?: unknown): Promise<Reply> {
  const response = await api.request(`/api/v2.2/tokens/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': EXAMPLE_KEY, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const windows = (minutes: number | null, hour: number | null, hours: number | null, day: number | null) => ({
  '5m': minutes,
  '1h': hour,
  '6h': hours,
  '24h': day,
});
const COMPLETE = { from_block: '0', to_block: String(HEAD), complete: true };
const OF_CATS = {
  chainId: '0x1',
  categoryId: CATS,
  totalBuyVolume: windows(100, 300, 300, 310),
  totalSellVolume: windows(0, 49, 149, 149),
  totalBuyers: windows(1, 1, 1, 2),
  totalSellers: windows(0, 1, 2, 2),
  totalBuys: windows(1, 2, 2, 3),
  totalSells: windows(0, 1, 2, 2),
  uniqueWallets: windows(1, 2, 2, 3),
  pricePercentChange: windows(0, 5, 5, 5),
  usdPrice: '1.05',
  // 1,000,000 × 1.05 + 1,050,000, and 100,000 × 1 + 50 × 2,000.
  totalLiquidity: '2300000.00',
  totalFullyDilutedValuation: '10500000.00',
  indexed: COMPLETE,
};
const NO_POOLS = { status: 404, body: { message: 'No liquidity pools found for the specified token address' } };

describe('analytics of a token', () => {
  test('count the trades of all its pools, in windows that end with the newest block', async () => {
    expect(await request(`${CATS}/analytics`)).toEqual({ status: 200, body: OF_CATS });
  });

  test('are seen from the token, whichever side it is', async () => {
    const { database } = scratch;
    const pool = { pool: ETHER_PAIR, tokens: [USDC, WETH] } as const;
    await seedPool(database, eth, pool);
    await seedReserves(database, eth, ETHER_PAIR, 10, [2_000_000n * UNIT, 1_000n * ETHER]);
    await seedSwap(database, eth, { ...pool, block: 400, amounts: [-1_990n * UNIT, ETHER], wallet: BOB });
    const ofEther = await request(`${WETH}/analytics`);
    expect(ofEther.body).toMatchObject({
      totalSells: windows(1, 1, 1, 1),
      totalSellVolume: windows(1_990, 1_990, 1_990, 1_990),
      totalBuys: windows(0, 0, 0, 0),
      totalSellers: windows(1, 1, 1, 1),
      usdPrice: '2000',
      // Pools against tokens that are no anchors don't count.
      totalLiquidity: '4000000.00',
      totalFullyDilutedValuation: null,
      pricePercentChange: windows(0, 0, 0, 0),
    });
    const ofDollars = await request(`${USDC}/analytics?chain=0x1`);
    expect(ofDollars.body).toMatchObject({
      totalBuys: windows(1, 1, 1, 1),
      totalBuyVolume: windows(1_990, 1_990, 1_990, 1_990),
      totalSells: windows(0, 0, 0, 0),
      totalBuyers: windows(1, 1, 1, 1),
      usdPrice: '1',
      totalLiquidity: '4000000.00',
    });
  });

  test('have no volume and no price while the price of an anchor is unknown', async () => {
    await cover(scratch.database, eth, 'feed-answers', 380);
    expect((await request(`${CATS}/analytics`)).body).toEqual({
      ...OF_CATS,
      totalBuyVolume: windows(null, null, null, null),
      totalSellVolume: windows(0, null, null, null),
      pricePercentChange: windows(null, null, null, null),
      usdPrice: null,
      totalLiquidity: '0.00',
      totalFullyDilutedValuation: null,
      indexed: { ...COMPLETE, complete: false },
    });
  });

  test('are null in windows whose swaps are not all indexed', async () => {
    await cover(scratch.database, eth, 'swaps', 330);
    expect((await request(`${CATS}/analytics`)).body).toEqual({
      ...OF_CATS,
      totalBuyVolume: windows(100, 300, null, null),
      totalSellVolume: windows(0, 49, null, null),
      totalBuyers: windows(1, 1, null, null),
      totalSellers: windows(0, 1, null, null),
      totalBuys: windows(1, 2, null, null),
      totalSells: windows(0, 1, null, null),
      uniqueWallets: windows(1, 2, null, null),
      indexed: { ...COMPLETE, complete: false },
    });
  });

  test('leave out unproven and uncounted pools, and are not complete while one is undecided', async () => {
    const { database } = scratch;
    const [fake, hooked] = [addressOf(0xfa4e), addressOf(0xfa4f)];
    await seedPool(database, eth, { pool: fake, tokens: [CATS, USDC], status: 'unproven' });
    await seedPool(database, eth, { pool: hooked, tokens: [CATS, USDC], isCounted: false });
    for (const pool of [fake, hooked]) {
      await seedReserves(database, eth, pool, 10, [UNIT, 10n ** 9n * UNIT]);
      await seedSwap(database, eth, {
        ...{ pool, tokens: [CATS, USDC], block: 400, wallet: BOB },
        amounts: [-UNIT, 10n ** 9n * UNIT],
      });
    }
    expect((await request(`${CATS}/analytics`)).body).toEqual({
      ...OF_CATS,
      indexed: { ...COMPLETE, complete: false },
    });
  });

  test('of a token whose pools are too shallow have trades and no price', async () => {
    const { database } = scratch;
    const [pool, tokens] = [addressOf(0x9a5), [DOGS, USDC]] as const;
    await seedToken(database, eth, DOGS, { symbol: 'DOGS' });
    await seedPool(database, eth, { pool, tokens });
    await seedReserves(database, eth, pool, 10, [100n * UNIT, 100n * UNIT]);
    await seedSwap(database, eth, { pool, tokens, block: 395, amounts: [-UNIT, UNIT], wallet: BOB });
    expect((await request(`${DOGS}/analytics`)).body).toMatchObject({
      ...{ usdPrice: null, totalLiquidity: '0.00', totalFullyDilutedValuation: null },
      ...{ totalBuys: windows(0, 1, 1, 1), totalBuyVolume: windows(0, 1, 1, 1) },
      pricePercentChange: windows(null, null, null, null),
    });
  });

  test('have no valuation beyond that of any real token', async () => {
    await scratch.database.query(sql`UPDATE tokens SET total_supply = 10 ^ 19::numeric WHERE symbol = 'CATS'`);
    expect((await request(`${CATS}/analytics`)).body).toMatchObject({ totalFullyDilutedValuation: null });
  });

  test('of a token without a pool are not found, nor is a bad address', async () => {
    expect(await request(`${DOGS}/analytics`)).toMatchObject(NO_POOLS);
    expect(await request('0x12/analytics')).toMatchObject({
      status: 400,
      body: { message: '[C0005] Invalid address provided' },
    });
  });
});

async function seedOnBase(): Promise<void> {
  const { database } = scratch;
  await seedToken(database, base, DOGS, { symbol: 'DOGS', supply: 1_000n });
  await seedPool(database, base, { pool: BASE_PAIR, tokens: [DOGS, USDC_OF_BASE] });
  await seedReserves(database, base, BASE_PAIR, 10, [1_000n * UNIT, 3_000n * UNIT]);
}

describe('analytics of several tokens', () => {
  test('are in the order of the request, without unknown ones, over several chains', async () => {
    await seedOnBase();
    const tokens = [
      { chain: 'base', tokenAddress: DOGS },
      { chain: '0x1', tokenAddress: DOGS },
      { chain: 'eth', tokenAddress: parseAddress(CATS) },
      { tokenAddress: CATS.toUpperCase().replace('0X', '0x') },
    ];
    const { status, body } = await request('analytics', { tokens });
    expect(status).toBe(200);
    expect(body).toEqual({
      categories: [
        expect.objectContaining({
          ...{ chainId: '0x2105', categoryId: DOGS, usdPrice: '3', totalLiquidity: '6000.00' },
          totalFullyDilutedValuation: '3000.00',
          totalBuys: windows(0, 0, 0, 0),
          totalBuyVolume: windows(0, 0, 0, 0),
          pricePercentChange: windows(0, 0, 0, 0),
        }),
        OF_CATS,
        OF_CATS,
      ],
    });
  });

  test('take up to 200 tokens', async () => {
    const unknown = Array.from({ length: 199 }, (_, index) => ({ tokenAddress: addressOf(0x70000 + index) }));
    const { body } = await request('analytics', { tokens: [...unknown, { tokenAddress: CATS }] });
    expect(body).toEqual({ categories: [OF_CATS] });
  });

  const many = Array.from({ length: 201 }, () => ({ tokenAddress: CATS }));
  test.each([
    [{ tokens: many }, 'tokens must contain not more than 200 elements'],
    [{ tokens: [] }, 'tokens must contain at least 1 elements'],
    [
      {},
      'tokens must be an array, tokens must contain not more than 200 elements, tokens must contain at least 1 elements',
    ],
    [{ tokens: [{ tokenAddress: '0x12' }] }, '[C0005] Invalid address provided'],
    [{ tokens: [{ chain: 'nowhere', tokenAddress: CATS }] }, 'chain must be a known chain'],
  ])('%j is refused', async (body, message) => {
    for (const path of ['analytics', 'analytics/timeseries'])
      expect(await request(path, body)).toEqual({ status: 400, body: { message, details: expect.anything() } });
  });
});

describe('the time series of a token', () => {
  const series = async (timeframe: string, tokens: readonly object[] = [{ tokenAddress: CATS }]) =>
    request(`analytics/timeseries${timeframe}`, { tokens });
  const step = (
    start: number,
    buyVolume: number,
    sellVolume: number,
    values: readonly [number, number] | null,
  ) => ({
    timestamp: new Date(start * 1_000).toISOString(),
    ...{ buyVolume, sellVolume, liquidityUsd: values?.[0] ?? null, fullyDilutedValuation: values?.[1] ?? null },
  });
  const [BEFORE, NOW] = [
    [2_200_000, 10_000_000],
    [2_300_000, 10_500_000],
  ] as const;

  test('of a day has hours, oldest first, with and without trades', async () => {
    const { status, body } = await series('');
    const volumes = new Map<number, readonly [number, number]>([
      [17, [0, 100]],
      [22, [200, 0]],
      [23, [100, 49]],
    ]);
    expect(status).toBe(200);
    expect(body).toEqual({
      result: [
        {
          ...{ chainId: '0x1', tokenAddress: CATS, indexed: COMPLETE },
          timeseries: Array.from({ length: 24 }, (_, at) => {
            const [bought, sold] = volumes.get(at) ?? [0, 0];
            return step(timeOf(120) + at * 3_600, bought, sold, at < 22 ? BEFORE : NOW);
          }),
        },
      ],
    });
  });

  test('of a week has steps of six hours, and no liquidity before the first block', async () => {
    const { body } = await series('?timeframe=7d');
    const { timeseries } = (body as { result: { timeseries: object[] }[] }).result[0] ?? { timeseries: [] };
    expect(timeseries).toHaveLength(28);
    // The pools are empty at the end of no step, and 112 and 113 are in the second one of the first day.
    expect(timeseries.slice(-7)).toEqual([
      step(START - 6 * 3_600, 0, 0, null),
      step(START, 0, 0, BEFORE),
      step(START + 6 * 3_600, 17, 0, BEFORE),
      step(START + 12 * 3_600, 0, 0, BEFORE),
      step(START + 18 * 3_600, 0, 0, BEFORE),
      step(START + 24 * 3_600, 0, 100, BEFORE),
      step(START + 30 * 3_600, 300, 49, NOW),
    ]);
  });

  test('of a month has days, and no volume of days whose swaps are not indexed', async () => {
    await cover(scratch.database, eth, 'swaps', 200);
    const { body } = await series('?timeframe=30d');
    const { timeseries } = (body as { result: { timeseries: object[] }[] }).result[0] ?? { timeseries: [] };
    expect(timeseries).toHaveLength(30);
    expect(timeseries.slice(-3)).toEqual([
      { ...step(START - 86_400, 0, 0, null), buyVolume: null, sellVolume: null },
      { ...step(START, 0, 0, BEFORE), buyVolume: null, sellVolume: null },
      step(START + 86_400, 300, 149, NOW),
    ]);
    expect(body).toMatchObject({ result: [{ indexed: { complete: false } }] });
  });

  test('leaves out unknown tokens, and has several chains', async () => {
    await seedOnBase();
    const { body } = await series('', [{ tokenAddress: DOGS }, { chain: 'base', tokenAddress: DOGS }]);
    expect(body).toMatchObject({ result: [{ chainId: '0x2105', tokenAddress: DOGS }] });
  });

  test('has no other timeframe', async () => {
    const { status, body } = await series('?timeframe=2d');
    expect(status).toBe(400);
    expect((body as { message: string }).message).toContain('timeframe');
  });
});
