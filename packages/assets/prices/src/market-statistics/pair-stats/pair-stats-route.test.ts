/** Statistics of pools over stored rows. Blocks are 300 seconds apart: windows begin at blocks 399, 388, 352 and 112. */
import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { withServices } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { poolKey } from '@chainstead/markets/requests';
import { addressOf, hashOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import * as market from '../testing/seeded-market.ts';
import * as pools from '../testing/seeded-pools.ts';
import { pairStatsRoute } from './pair-stats-route.ts';

const { CATS, DOGS, HEAD, USDC, WETH, eth } = market;
const [PAIR, POOL] = [addressOf(0x9a1), addressOf(0x9b1)];
const [ANN, BEN, CAL] = [addressOf(0xa), addressOf(0xb), addressOf(0xc)];
const [CAT, MILLI] = [10n ** 6n, 10n ** 15n];
const ETHER = 1_000n * MILLI;

const scratch = scratchOfFile();
const api = madeForFile(() =>
  exampleApi(scratch.database, [withServices(market.balancesOf(scratch.database), [pairStatsRoute])], {
    onDemand: market.ON_DEMAND,
  }),
);

beforeEach(async () => {
  await market.seedMarket(scratch.database);
  await market.seedCatsAndDogs(scratch.database);
});

async function get(pool: string): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await api.request(`/api/v2.2/pairs/${pool}/stats`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const windows = (five: number | null, hour: number | null, four: number | null, day: number | null) => ({
  ...{ '5min': five, '1h': hour, '4h': four, '24h': day },
});
const UNKNOWN = windows(null, null, null, null);

/** Reserves that rise from 1 to 1.5 dollars per cat, and six swaps. */
async function seedPair(): Promise<void> {
  const { database } = scratch;
  await pools.seedPool(database, eth, { pool: PAIR, tokens: [CATS, WETH] });
  for (const [block, cats, ether] of [
    [10, 1_000_000n, 500n],
    [200, 1_000_000n, 520n],
    [360, 1_000_000n, 600n],
    [390, 1_000_000n, 750n],
    [400, 800_000n, 600n],
  ] as const)
    await pools.seedReserves(database, eth, PAIR, block, [cats * CAT, ether * ETHER]);
  // The swap at the start of each window is not part of it.
  for (const [block, milliEther, wallet, log] of [
    [112, 9_000n, CAL, 0],
    [113, 500n, ANN, 0],
    [353, -1_000n, BEN, 0],
    [388, 2_000n, ANN, 0],
    [389, 100n, BEN, 0],
    [400, -3_000n, BEN, 0],
    [400, -250n, CAL, 1],
  ] as const)
    await pools.seedSwap(database, eth, {
      ...{ pool: PAIR, block, log, wallet },
      amounts: [-milliEther * CAT, milliEther * MILLI],
    });
}

const TRADES = {
  buys: windows(0, 1, 2, 3),
  sells: windows(2, 2, 3, 3),
  buyers: windows(0, 1, 2, 2),
  sellers: windows(2, 2, 2, 2),
};

describe('a pool with reserves', () => {
  beforeEach(seedPair);

  test('has every field', async () => {
    await scratch.database.query(
      sql`INSERT INTO pool_creations (pool_key, chain_id, block_number, transaction_index, log_index, pool, factory, token0, token1, transaction_hash)
       VALUES (${poolKey(PAIR)}, ${eth.id}, 9, 0, 0, ${hexBytes(PAIR)}, ${hexBytes(pools.factoryOf('Uniswap v2'))}, ${hexBytes(CATS)}, ${hexBytes(WETH)}, ${hexBytes(hashOf(1, 9))})`,
    );
    expect(await get(PAIR)).toEqual({
      status: 200,
      body: {
        tokenAddress: CATS,
        tokenName: 'CATS token',
        tokenSymbol: 'CATS',
        tokenLogo: null,
        pairCreated: market.isoOf(9),
        pairLabel: 'CATS/WETH',
        pairAddress: PAIR,
        exchange: 'Uniswap v2',
        exchangeAddress: pools.factoryOf('Uniswap v2'),
        exchangeLogo: null,
        exchangeUrl: null,
        currentUsdPrice: '1.5',
        currentNativePrice: '0.00075',
        totalLiquidityUsd: '2400000.00',
        // From 1.5, 1.2, 1.04 and 1 dollars.
        pricePercentChange: windows(0, 25, 44.2308, 50),
        // From 3,000,000, 2,400,000, 2,080,000 and 2,000,000 dollars.
        liquidityPercentChange: windows(-20, 0, 15.3846, 20),
        ...TRADES,
        totalVolume: windows(6_500, 6_700, 12_700, 13_700),
        buyVolume: windows(0, 200, 4_200, 5_200),
        sellVolume: windows(6_500, 6_500, 8_500, 8_500),
        indexed: { from_block: '0', to_block: '400', complete: true },
      },
    });
  });

  test('has no dollars while the price of ether is unknown', async () => {
    await scratch.database.query(sql`DELETE FROM sync_ranges WHERE dataset = 'feed-answers'`);
    expect((await get(PAIR)).body).toMatchObject({
      ...{ currentUsdPrice: null, currentNativePrice: '0.00075', totalLiquidityUsd: null, pairCreated: null },
      ...{ pricePercentChange: UNKNOWN, liquidityPercentChange: UNKNOWN },
      ...{ totalVolume: UNKNOWN, buyVolume: windows(0, null, null, null), sellVolume: UNKNOWN },
      ...TRADES,
    });
  });

  test('has numbers of trades while decimals are unknown', async () => {
    await scratch.database.query(sql`UPDATE tokens SET decimals = NULL WHERE address = ${hexBytes(CATS)}`);
    expect((await get(PAIR)).body).toMatchObject({
      ...{
        currentUsdPrice: null,
        currentNativePrice: null,
        totalLiquidityUsd: null,
        pricePercentChange: UNKNOWN,
      },
      // The ether side has them.
      ...{ totalVolume: windows(6_500, 6_700, 12_700, 13_700), ...TRADES },
    });
  });

  test('is that of the block before after a reorg of the head', async () => {
    for (const table of ['pool_states', 'swaps', 'trades', 'blocks'])
      await scratch.database.query(sql`DELETE FROM ${rawSql(table)} WHERE block_number = ${rawSql(HEAD)}`);
    await scratch.database.query(sql`UPDATE sync_ranges SET last_block = ${rawSql(HEAD - 1)}`);
    expect((await get(PAIR)).body).toMatchObject({
      ...{ currentUsdPrice: '1.5', totalLiquidityUsd: '3000000.00' },
      // Windows begin a block earlier.
      ...{ sells: windows(0, 0, 1, 1), buys: windows(0, 2, 2, 4) },
      indexed: { to_block: '399', complete: true },
    });
  });

  test('is incomplete if swaps or states of the longest window are not indexed', async () => {
    await market.cover(scratch.database, eth, 'swaps', 114);
    expect((await get(PAIR)).body.indexed).toMatchObject({ complete: false });
    await market.cover(scratch.database, eth, 'swaps', 113);
    expect((await get(PAIR)).body.indexed).toMatchObject({ complete: true });
    await market.cover(scratch.database, eth, 'pool-states', 113);
    expect((await get(PAIR)).body).toMatchObject({
      pricePercentChange: windows(0, 25, 44.2308, null),
      indexed: { from_block: '113', complete: false },
    });
  });
});

describe('a pool of concentrated liquidity', () => {
  /** 4e8 wei per unit of cats: 0.0004 ether, which are 0.8 dollars. */
  beforeEach(async () => {
    await pools.seedPool(scratch.database, eth, { pool: POOL, tokens: [CATS, WETH], exchange: 'Uniswap v3' });
    await pools.seedRoot(scratch.database, eth, POOL, 10, 20_000n);
  });

  test('has the liquidity of its balances at the head and before', async () => {
    await pools.seedBalances(scratch.database, eth, POOL, [
      [CATS, 300_000n * CAT],
      [WETH, 50n * ETHER],
    ]);
    await pools.seedDeposit(scratch.database, eth, { pool: POOL, block: 380, token: WETH, value: 10n * ETHER });
    expect((await get(POOL)).body).toMatchObject({
      ...{ exchange: 'Uniswap v3', currentUsdPrice: '0.8', currentNativePrice: '0.0004', pairCreated: null },
      // 240,000 dollars of cats, and 100,000 of ether: 80,000 before the deposit.
      ...{ totalLiquidityUsd: '340000.00', liquidityPercentChange: windows(0, 0, 6.25, 6.25) },
      ...{ pricePercentChange: windows(0, 0, 0, 0), buys: windows(0, 0, 0, 0), totalVolume: windows(0, 0, 0, 0) },
      indexed: { complete: true },
    });
  });

  test('has its balances read by the first request', async () => {
    expect((await get(POOL)).body).toMatchObject({
      ...{ currentUsdPrice: '0.8', totalLiquidityUsd: null, liquidityPercentChange: UNKNOWN },
      indexed: { complete: false },
    });
    const questions = await scratch.database.query<{ question: { wallet: string } }>(
      sql`SELECT question FROM state_questions WHERE kind = 'erc20-balances'`,
    );
    expect(questions.map(({ question }) => question.wallet)).toEqual([POOL]);
  });
});

test('a pool of a manager has a price, and no known liquidity', async () => {
  const id = hashOf(4, 1);
  const manager = pools.factoryOf('Uniswap v4');
  await pools.seedPool(scratch.database, eth, {
    ...{ pool: id, tokens: [ZERO_ADDRESS, CATS], exchange: 'Uniswap v4', vault: manager },
  });
  await scratch.database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, sqrt_price_x96, liquidity, tick)
     VALUES (${poolKey(id)}, ${eth.id}, 10, 0, 0, ${hexBytes(id)}, ${(1n << 84n).toString()}, 1, 1)`,
  );
  const { body } = await get(id);
  // The root is 2^-12, so a wei is worth 2^-24 units: 2^24 wei per unit, and 2^24 · 1e6 wei per cat.
  expect(body).toMatchObject({
    ...{ pairAddress: id, tokenAddress: CATS, pairLabel: 'CATS/ETH', currentNativePrice: '0.000016777216' },
    ...{ currentUsdPrice: '0.033554432', totalLiquidityUsd: null, indexed: { complete: true } },
  });
});

test('a pool of two ordinary tokens has no dollars', async () => {
  await pools.seedPool(scratch.database, eth, { pool: PAIR, tokens: [CATS, DOGS] });
  await pools.seedReserves(scratch.database, eth, PAIR, 10, [CAT, ETHER]);
  await pools.seedSwap(scratch.database, eth, {
    pool: PAIR,
    block: 399,
    tokens: [CATS, DOGS],
    amounts: [CAT, -ETHER],
  });
  expect((await get(PAIR)).body).toMatchObject({
    ...{ pairLabel: 'CATS/DOGS', currentUsdPrice: null, currentNativePrice: null, totalLiquidityUsd: null },
    ...{ sells: windows(0, 1, 1, 1), totalVolume: windows(0, null, null, null) },
  });
});

test('the native price of a pool against dollars follows from the price of ether', async () => {
  await pools.seedPool(scratch.database, eth, { pool: PAIR, tokens: [CATS, USDC] });
  await pools.seedReserves(scratch.database, eth, PAIR, 10, [1_000n * CAT, 3_000n * CAT]);
  expect((await get(PAIR)).body).toMatchObject({ currentUsdPrice: '3', currentNativePrice: '0.0015' });
});

test('a pool without proof is not found, nor is an unknown one', async () => {
  await pools.seedPool(scratch.database, eth, { pool: PAIR, tokens: [CATS, WETH], status: 'unproven' });
  for (const pool of [PAIR, parseAddress(`0x${'99'.repeat(20)}`)])
    expect(await get(pool)).toEqual({ status: 404, body: { message: 'Pair not found' } });
});

test('without an indexed block, only facts of the pool are known', async () => {
  await pools.seedPool(scratch.database, eth, { pool: PAIR, tokens: [CATS, WETH] });
  await scratch.database.query(sql`TRUNCATE sync_ranges, blocks`);
  expect((await get(PAIR)).body).toMatchObject({
    ...{ pairLabel: 'CATS/WETH', currentUsdPrice: null, pricePercentChange: UNKNOWN },
    indexed: { from_block: null, to_block: null, complete: false },
  });
});
