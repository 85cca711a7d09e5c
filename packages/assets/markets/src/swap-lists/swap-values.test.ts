/** Dollar values in lists of swaps: anchors, blocks, and missing blocks of the price feed. */

import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers, seedReadings } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { createMarketRoutes } from '../market-routes.ts';
import { poolKey } from '../pools/pool-creation.ts';
import type { SwapRow } from '../tables/schema.ts';
import { noBackfill } from './testing/no-backfill.ts';
import { cover, seedPools, seedStates, seedSwaps, seedToken, swapRow } from './testing/seeded-swaps.ts';

const eth = createChainRegistry().get('eth');
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
const [CATS, DOGS] = [parseAddress(`0x${'11'.repeat(20)}`), parseAddress(`0x${'12'.repeat(20)}`)];
const [PAIR, FAKE, ALICE] = [addressOf(0x9a1), addressOf(0xfa4e), addressOf(0xa11ce)];
const UNIT = 10n ** 6n;
const ETHER = 10n ** 18n;
const HEAD = 100;
/** Units of the feed. */
const DOLLARS = 10n ** 8n;

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, createMarketRoutes(noBackfill)));

beforeEach(async () => {
  await scratch.database.query(
    sql`TRUNCATE swaps, trades, pools, pool_states, blocks, sync_ranges, tokens, feed_answers, feed_readings`,
  );
  for (const [token, symbol, decimals] of [
    [CATS, 'CATS', 6],
    [DOGS, 'DOGS', 6],
    [USDC, 'USDC', 6],
    [WETH, 'WETH', 18],
  ] as const)
    await seedToken(scratch.database, eth, token, symbol, decimals);
  for (const dataset of ['swaps', 'feed-answers']) await cover(scratch.database, eth, dataset, HEAD);
});

/** Stores ether prices by block, transaction and log. */
async function seedPrices(
  ...prices: readonly (readonly [place: readonly number[], dollars: bigint])[]
): Promise<void> {
  const [aggregator] = eth.etherPrice.feed?.aggregators ?? [];
  if (aggregator === undefined) throw new RangeError('Ethereum has an ether feed');
  const answers = prices.map(([[blockNumber = 0, transactionIndex = 0, logIndex = 0], dollars]) => ({
    ...{ aggregator, blockNumber, transactionIndex, logIndex, answer: `${dollars * DOLLARS}` },
  }));
  await seedAnswers(scratch.database, eth, answers);
}

async function seedPair(tokens: readonly [Address, Address], rows: readonly Partial<SwapRow>[]): Promise<void> {
  await seedPools(scratch.database, eth, [{ pool: PAIR, tokens }]);
  const given = {
    pool: PAIR,
    token0: tokens[0],
    token1: tokens[1],
    blockNumber: 7,
    transactionIndex: 3,
    logIndex: 9,
  };
  await seedSwaps(
    scratch.database,
    eth,
    rows.map((row) => swapRow(eth, { ...given, ...row })),
  );
}

interface Row extends Readonly<Record<string, unknown>> {
  readonly bought: Readonly<Record<string, unknown>>;
  readonly sold: Readonly<Record<string, unknown>>;
}

async function rowsOf(path: string): Promise<readonly Row[]> {
  const response = await api.request(`/api/v2.2${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  const { result } = (await response.json()) as { readonly result: readonly Row[] };
  return result;
}

/** Price of base and quote token, and value, in the list of the pair. */
async function pairValues(query = ''): Promise<unknown[][]> {
  const rows = await rowsOf(`/pairs/${PAIR}/swaps?order=ASC${query}`);
  return rows.map((row) => [row.baseTokenPriceUsd, row.quoteTokenPriceUsd, row.totalValueUsd]);
}

const UNKNOWN = [null, null, null];

test('a swap against ether is worth its ether, in every list', async () => {
  await seedPrices([[5], 2_000n]);
  await seedPair([CATS, WETH], [{ amount0: `${-1_500n * UNIT}`, amount1: `${ETHER / 2n}` }]);
  // 1,000 dollars for 1,500 tokens.
  expect(await pairValues()).toEqual([[1_000 / 1_500, 2_000, 1_000]]);
  for (const path of [`/erc20/${CATS}/swaps`, `/erc20/${WETH}/swaps`, `/wallets/${ALICE}/swaps`])
    expect(await rowsOf(path)).toMatchObject([
      {
        totalValueUsd: 1_000,
        bought: { address: CATS, amount: '1500', usdPrice: 1_000 / 1_500, usdAmount: 1_000 },
        sold: { address: WETH, amount: '0.5', usdPrice: 2_000, usdAmount: 1_000 },
      },
    ]);
});

test('the ether price is the last one until the end of the block', async () => {
  await seedPrices([[6], 1_000n], [[7, 3, 8], 2_000n], [[7, 3, 10], 3_000n], [[8], 4_000n]);
  const amounts = { amount0: `${-UNIT}`, amount1: `${ETHER}` };
  await seedPair(
    [CATS, WETH],
    [
      { ...amounts, transactionIndex: 2 },
      { ...amounts },
      { ...amounts, transactionIndex: 4 },
      { ...amounts, blockNumber: 9 },
    ],
  );
  expect((await pairValues()).map(([, , value]) => value)).toEqual([3_000, 3_000, 3_000, 4_000]);
  const newest = await rowsOf(`/pairs/${PAIR}/swaps`);
  expect(newest.map(({ totalValueUsd }) => totalValueUsd)).toEqual([4_000, 3_000, 3_000, 3_000]);
});

test('of two anchors the dollar counts, and no other takes its place before its price is known', async () => {
  const feed = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.proxy ?? USDC;
  await seedPrices([[5], 2_000n]);
  await seedPair([USDC, WETH], [{ amount0: `${1_990n * UNIT}`, amount1: `${-ETHER}` }]);
  expect(await pairValues()).toEqual([UNKNOWN]);
  await seedReadings(scratch.database, eth, [{ feed, block: 4 }]);
  expect(await pairValues()).toEqual([[1_990, 1, 1_990]]);
  await scratch.database.query(sql`TRUNCATE feed_readings`);
  await seedReadings(scratch.database, eth, [{ feed, block: 4, answer: '0' }]);
  expect(await pairValues()).toEqual([[2_000, 1.0050251256281406, 2_000]]);
});

test('there is no value without an anchor or decimals, and none was traded without a sold token', async () => {
  await seedPrices([[5], 2_000n]);
  await seedPair([CATS, DOGS], [{ amount0: '5', amount1: '-7' }]);
  expect(await pairValues()).toEqual([UNKNOWN]);
  await scratch.database.query(sql`TRUNCATE swaps, trades, pools`);
  await seedPair(
    [CATS, WETH],
    [
      { amount0: '0', amount1: `${ETHER}` },
      { blockNumber: 8, kind: 1, amount0: '5', amount1: '6' },
    ],
  );
  expect(await pairValues()).toEqual([[null, 2_000, 0], UNKNOWN]);
  await scratch.database.query(sql`UPDATE tokens SET decimals = NULL`);
  expect(await pairValues()).toEqual([UNKNOWN, UNKNOWN]);
});

test('a value is unknown while a block since the last price is missing, and appears once it is indexed', async () => {
  const { database } = scratch;
  const amounts = { amount0: `${-UNIT}`, amount1: `${ETHER}` };
  await seedPrices([[3], 1_000n]);
  await seedPair([CATS, WETH], [amounts]);
  await database.query(sql`DELETE FROM sync_ranges WHERE dataset = 'feed-answers'`);
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof)
     VALUES (${eth.id}, 'feed-answers', 0, 4, 'receipts'), (${eth.id}, 'feed-answers', 6, ${rawSql(HEAD)}, 'receipts')`,
  );
  expect(await pairValues()).toEqual([UNKNOWN]);
  await seedPrices([[5], 1_100n]);
  await database.query(
    sql`UPDATE sync_ranges SET last_block = 5 WHERE dataset = 'feed-answers' AND first_block = 0`,
  );
  expect(await pairValues()).toEqual([[1_100, 1_100, 1_100]]);
  // A reorg replaces the price.
  await database.query(sql`DELETE FROM feed_answers WHERE block_number = 5`);
  await seedPrices([[5], 1_200n]);
  expect(await pairValues()).toEqual([[1_200, 1_200, 1_200]]);
});

test('a pool without proof has no swaps to value', async () => {
  await seedPrices([[5], 2_000n]);
  await seedPools(scratch.database, eth, [{ pool: FAKE, tokens: [CATS, WETH], status: 'unproven' }]);
  const fake = {
    pool: FAKE,
    token0: CATS,
    token1: WETH,
    blockNumber: 7,
    amount0: '-1',
    amount1: `${10n ** 24n}`,
  };
  await seedSwaps(scratch.database, eth, [swapRow(eth, fake)]);
  for (const path of [`/erc20/${CATS}/swaps`, `/wallets/${ALICE}/swaps`]) expect(await rowsOf(path)).toEqual([]);
});

describe('the tokens of a pair', () => {
  const NO_STATE = { reserve0: null, reserve1: null, sqrtPriceX96: null, liquidity: null, tick: null };
  const seedState = (state: Partial<typeof NO_STATE> | Readonly<Record<string, unknown>>) =>
    seedStates(scratch.database, eth, [
      {
        ...{
          poolKey: poolKey(PAIR),
          chainId: eth.id,
          pool: PAIR,
          blockNumber: 7,
          transactionIndex: 0,
          logIndex: 0,
        },
        ...{ ...NO_STATE, ...state },
      },
    ]);
  const tokens = async () => {
    const response = await api.request(`/api/v2.2/pairs/${PAIR}/swaps`, {
      headers: { 'x-api-key': EXAMPLE_KEY },
    });
    const { baseToken, quoteToken } = (await response.json()) as Record<
      string,
      Readonly<Record<string, unknown>>
    >;
    return [baseToken, quoteToken].map((token) => [
      token?.address,
      token?.amount,
      token?.usdPrice,
      token?.usdAmount,
    ]);
  };
  /** 1,000 cats and 2 ether. */
  const RESERVES = { reserve0: `${1_000n * UNIT}`, reserve1: `${2n * ETHER}` };

  test('have the price and the value of the newest reserves', async () => {
    await seedPrices([[1], 2_000n]);
    await seedPair([CATS, WETH], [{}]);
    await seedState(RESERVES);
    expect(await tokens()).toEqual([
      [CATS, '1000', 4, 4_000],
      [WETH, '2', 2_000, 4_000],
    ]);
  });

  test('have a price, and no value, in a pool without reserves', async () => {
    await seedPrices([[1], 2_000n]);
    await seedPair([CATS, WETH], [{}]);
    // 4e8 wei per unit of cats.
    await seedState({ sqrtPriceX96: `${20_000n << 96n}`, liquidity: '1', tick: 1 });
    expect(await tokens()).toEqual([
      [CATS, null, 0.8, null],
      [WETH, null, 2_000, null],
    ]);
  });

  test('have none without a price of their anchor, without an anchor, or without a state', async () => {
    await seedPair([CATS, WETH], [{}]);
    await seedState(RESERVES);
    expect(await tokens()).toEqual([
      [CATS, '1000', null, null],
      [WETH, '2', null, null],
    ]);
    await scratch.database.query(sql`TRUNCATE pools, pool_states, swaps, trades`);
    await seedPair([CATS, DOGS], [{}]);
    await seedState(RESERVES);
    expect(await tokens()).toEqual([
      [CATS, '1000', null, null],
      [DOGS, '2000000000000', null, null],
    ]);
    await scratch.database.query(sql`TRUNCATE pools, pool_states, swaps, trades`);
    await seedPrices([[1], 2_000n]);
    await seedPair([CATS, WETH], [{}]);
    expect(await tokens()).toEqual([
      [CATS, null, null, null],
      [WETH, null, 2_000, null],
    ]);
  });
});
