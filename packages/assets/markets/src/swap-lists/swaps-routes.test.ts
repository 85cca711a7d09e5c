/** Swaps of pairs, tokens and wallets: fields, types, filters, and pools that are not listed. */

import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf, hashOf, timestampOf } from '@chainstead/testkit';
import { beforeEach, describe, expect, test } from 'vitest';
import { createMarketRoutes } from '../market-routes.ts';
import { noBackfill } from './testing/no-backfill.ts';
import { cover, seedPools, seedStates, seedSwaps, swapRow } from './testing/seeded-swaps.ts';
import {
  ALICE,
  BOB,
  BUY,
  CAT,
  CATS,
  ETHER,
  eth,
  PAIR,
  SELL,
  type SwapList,
  swap,
  swapListsOfFile,
  TOKENS,
  WETH,
} from './testing/swap-lists-of-file.ts';

const FAKE = addressOf(0xfa4e);
const { scratch, get, seed, seedPair } = swapListsOfFile();
const blocksOf = ({ body }: SwapList) => body.result.map(({ blockNumber }) => blockNumber);
const typesOf = ({ body }: SwapList) => body.result.map(({ transactionType }) => transactionType);

const TIME = new Date(timestampOf(7) * 1_000).toISOString();
const ROW = {
  transactionHash: hashOf(2, 7_003),
  transactionIndex: 3,
  logIndex: 9,
  blockTimestamp: TIME,
  blockNumber: 7,
  subCategory: null,
  walletAddress: ALICE,
  beneficiaryAddress: BOB,
  baseQuotePrice: '0.00033333333333333333',
  totalValueUsd: null,
};
const INDEXED = { from_block: '0', to_block: '100', complete: true };

describe('a purchase of the base token', () => {
  beforeEach(async () => {
    await seedPair();
    await seed(swap({ ...BUY, blockNumber: 7, transactionIndex: 3, logIndex: 9, beneficiary: BOB }));
  });

  test('has every field in the list of its pair, which has the newest reserves', async () => {
    const state = {
      poolKey: swap({ blockNumber: 7 }).poolKey,
      chainId: eth.id,
      pool: PAIR,
      transactionIndex: 3,
      logIndex: 8,
    };
    const reserves = { tick: null, sqrtPriceX96: null, liquidity: null };
    await seedStates(scratch.database, eth, [
      { ...state, ...reserves, blockNumber: 6, reserve0: '1', reserve1: '1' },
      { ...state, ...reserves, blockNumber: 7, reserve0: `${5n * CAT}`, reserve1: `${ETHER * 2n}` },
    ]);
    const token = (address: Address, symbol: string, amount: string) => ({
      ...{ address, name: `${symbol} token`, symbol, logo: null, amount, usdPrice: null, usdAmount: null },
    });
    expect(await get(`/pairs/${PAIR}/swaps`)).toEqual({
      status: 200,
      body: {
        page: 0,
        pageSize: 100,
        cursor: null,
        exchangeName: 'Uniswap v2',
        exchangeAddress: addressOf(0xfac),
        exchangeLogo: null,
        pairLabel: 'CATS/WETH',
        pairAddress: PAIR,
        baseToken: token(CATS, 'CATS', '5'),
        quoteToken: token(WETH, 'WETH', '2'),
        indexed: INDEXED,
        result: [
          {
            ...ROW,
            transactionType: 'buy',
            baseTokenAmount: '1500',
            quoteTokenAmount: '0.5',
            baseTokenPriceUsd: null,
            quoteTokenPriceUsd: null,
          },
        ],
      },
    });
  });

  test('has every field in lists of a token and of a wallet', async () => {
    const side = (address: Address, symbol: string, amount: string, tokenType: string) => ({
      ...{
        address,
        name: `${symbol} token`,
        symbol,
        logo: null,
        amount,
        usdPrice: null,
        usdAmount: null,
        tokenType,
      },
    });
    const expected = (transactionType: string) => ({
      status: 200,
      body: {
        page: 0,
        page_size: 100,
        cursor: null,
        indexed: INDEXED,
        result: [
          {
            ...ROW,
            transactionType,
            walletAddressLabel: null,
            entity: null,
            entityLogo: null,
            pairAddress: PAIR,
            pairLabel: 'CATS/WETH',
            exchangeAddress: addressOf(0xfac),
            exchangeName: 'Uniswap v2',
            exchangeLogo: null,
            baseToken: CATS,
            quoteToken: WETH,
            bought: side(CATS, 'CATS', '1500', 'token0'),
            sold: side(WETH, 'WETH', '0.5', 'token1'),
          },
        ],
      },
    });
    expect(await get(`/erc20/${CATS}/swaps`)).toEqual(expected('buy'));
    // From the view of the other token it is a sale.
    expect(await get(`/erc20/${WETH}/swaps`)).toEqual(expected('sell'));
    const ofWallet = (transactionType: string) => {
      const { status, body } = expected(transactionType);
      return { status, body: { status: 'SYNCED', ...body } };
    };
    expect(await get(`/wallets/${ALICE}/swaps`)).toEqual(ofWallet('buy'));
    expect(await get(`/wallets/${BOB}/swaps`)).toEqual(ofWallet('buy'));
    expect(await get(`/wallets/${ALICE}/swaps?tokenAddress=${WETH}`)).toEqual(ofWallet('sell'));
    expect(blocksOf(await get(`/wallets/${ALICE}/swaps?tokenAddress=${addressOf(5)}`))).toEqual([]);
  });
});

describe('filters', () => {
  beforeEach(async () => {
    await seedPair();
    await seed(
      swap({ ...BUY, blockNumber: 1 }),
      swap({ ...SELL, blockNumber: 2 }),
      swap({ blockNumber: 3, kind: 1, amount0: '5', amount1: '6' }),
      swap({ blockNumber: 4, kind: 2, amount0: null, amount1: null, liquidityDelta: '-9' }),
      swap({ ...BUY, blockNumber: 5 }),
    );
  });

  test('liquidity is listed for its pair only, without a price, and without amounts that its event lacks', async () => {
    const ofPair = await get(`/pairs/${PAIR}/swaps?order=ASC`);
    expect(typesOf(ofPair)).toEqual(['buy', 'sell', 'addLiquidity', 'removeLiquidity', 'buy']);
    expect(ofPair.body.result[2]).toMatchObject({ baseTokenAmount: '0.000005', baseQuotePrice: null });
    expect(ofPair.body.result[3]).toMatchObject({ baseTokenAmount: null, quoteTokenAmount: null });
    for (const path of [`/erc20/${CATS}/swaps`, `/wallets/${ALICE}/swaps`])
      expect(blocksOf(await get(path))).toEqual([5, 2, 1]);
  });

  test.each([
    ['transactionTypes=buy', [5, 1]],
    ['transactionTypes=sell', [2]],
    ['transactionTypes=buy,sell', [5, 2, 1]],
    ['transactionTypes=addLiquidity&transactionTypes=sell', [3, 2]],
    ['transactionTypes[]=removeLiquidity&transactionTypes[]=buy', [5, 4, 1]],
    ['transactionTypes[0]=addLiquidity', [3]],
    ['transactionTypes=', [5, 4, 3, 2, 1]],
  ])('%s', async (query, blocks) => {
    expect(blocksOf(await get(`/pairs/${PAIR}/swaps?${query}`))).toEqual(blocks);
  });

  test('a swap that is no trade is in the list of its pair, as neither purchase nor sale', async () => {
    const rows = [
      { amount0: '3', amount1: `${ETHER}` },
      { amount0: '-3', amount1: `${-ETHER}` },
      { amount0: '0', amount1: `${ETHER}` },
    ];
    await scratch.database.query(sql`TRUNCATE swaps, trades`);
    await seed(...rows.map((row, place) => swap({ ...row, blockNumber: 20 + place })));
    const listed = await get(`/pairs/${PAIR}/swaps?transactionTypes=buy,sell`);
    expect(listed.body.result).toMatchObject(
      rows.map(() => ({ transactionType: null, baseQuotePrice: null, subCategory: null })),
    );
    for (const path of [
      `/pairs/${PAIR}/swaps?transactionTypes=buy`,
      `/pairs/${PAIR}/swaps?transactionTypes=sell`,
    ])
      expect(typesOf(await get(path))).toEqual([]);
    for (const path of [`/erc20/${CATS}/swaps`, `/erc20/${WETH}/swaps`, `/wallets/${ALICE}/swaps`])
      expect(typesOf(await get(path))).toEqual([]);
  });

  test('types are seen from the view of the requested token', async () => {
    expect(blocksOf(await get(`/erc20/${CATS}/swaps?transactionTypes=buy`))).toEqual([5, 1]);
    expect(blocksOf(await get(`/erc20/${WETH}/swaps?transactionTypes=buy`))).toEqual([2]);
    expect(blocksOf(await get(`/wallets/${ALICE}/swaps?transactionTypes=sell`))).toEqual([2]);
    expect(blocksOf(await get(`/wallets/${ALICE}/swaps?transactionTypes=sell&tokenAddress=${WETH}`))).toEqual([
      5, 1,
    ]);
  });

  const date = (block: number) => new Date(timestampOf(block) * 1_000).toISOString();
  test.each([
    ['fromBlock=2&toBlock=4', [4, 3, 2]],
    ['from_block=2&to_block=4', [4, 3, 2]],
    [`fromDate=${date(4)}`, [5, 4]],
    [`to_date=${date(2)}`, [2, 1]],
    [`fromBlock=5&fromDate=${date(1)}`, [5]],
  ])('%s', async (query, blocks) => {
    expect(blocksOf(await get(`/pairs/${PAIR}/swaps?${query}`))).toEqual(blocks);
  });

  test('a cursor is bound to the filters, and pins the newest block of the first page', async () => {
    const first = await get(`/wallets/${ALICE}/swaps?limit=1&transactionTypes=buy`);
    expect([blocksOf(first), first.body.page_size]).toEqual([[5], 1]);
    await seed(swap({ ...BUY, blockNumber: 101 }));
    const cursor = String(first.body.cursor);
    const second = await get(`/wallets/${ALICE}/swaps?cursor=${cursor}`);
    expect([blocksOf(second), second.body.page, second.body.cursor]).toEqual([[1], 1, null]);
    expect((await get(`/wallets/${ALICE}/swaps?cursor=${cursor}&transactionTypes=sell`)).status).toBe(400);
  });
});

test('a chain whose exchanges come from a setting has their names in lists, and is found by the name of a known exchange', async () => {
  const factory = addressOf(0xfac2);
  const dev = createChainRegistry({
    additional: [{ key: 'dev', id: 31_337, exchanges: [{ family: 'v2', factory }] }],
  }).get('dev');
  await seedPools(scratch.database, dev, [{ pool: PAIR, tokens: TOKENS, exchange: 'v2', factory }]);
  await seedSwaps(scratch.database, dev, [
    swapRow(dev, { ...BUY, pool: PAIR, token0: CATS, token1: WETH, blockNumber: 3 }),
  ]);
  for (const dataset of ['swaps', 'pool-states']) await cover(scratch.database, dev, dataset, 100);
  const devApi = await exampleApi(scratch.database, createMarketRoutes(noBackfill), {
    chains: { find: () => dev },
  });
  const onDev = async (path: string) => {
    const response = await devApi.request(`/api/v2.2${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
    return response.json();
  };
  const OF_V2 = { exchangeName: 'v2', exchangeAddress: factory };
  expect(await onDev(`/pairs/${PAIR}/swaps?chain=dev`)).toMatchObject(OF_V2);
  for (const path of [`/erc20/${CATS}/swaps`, `/wallets/${ALICE}/swaps`])
    expect(await onDev(`${path}?chain=dev`)).toMatchObject({ result: [OF_V2] });
  for (const exchange of ['uniswapv2', 'v2', factory])
    expect(await onDev(`/${CATS}/${WETH}/pairAddress?chain=dev&exchange=${exchange}`)).toMatchObject({
      ...{ pairAddress: PAIR, exchange: 'v2', exchangeAddress: factory },
    });
});

describe('pools', () => {
  test('without proof, disproved or with a hook that changes amounts are never listed', async () => {
    const hidden = [
      { pool: FAKE, tokens: TOKENS, status: 'unproven' as const },
      { pool: addressOf(0xfa4f), tokens: TOKENS, status: 'disproved' as const },
      { pool: addressOf(0xfa50), tokens: TOKENS, isCounted: false },
    ];
    await seedPools(scratch.database, eth, [...hidden, { pool: PAIR, tokens: TOKENS }]);
    await seed(
      swap({ ...BUY, blockNumber: 1 }),
      ...hidden.map(({ pool }, index) =>
        swap({
          ...BUY,
          pool,
          poolKey: swapRow(eth, { pool, token0: CATS, token1: WETH, blockNumber: 1 }).poolKey,
          blockNumber: 2 + index,
        }),
      ),
    );
    for (const path of [`/erc20/${CATS}/swaps`, `/wallets/${ALICE}/swaps`, `/pairs/${PAIR}/swaps`])
      expect(blocksOf(await get(path))).toEqual([1]);
    for (const pool of [...hidden.map(({ pool }) => pool), addressOf(0x404)])
      expect(await get(`/pairs/${pool}/swaps`)).toEqual({ status: 404, body: { message: 'Pair not found' } });
  });

  test('make a list incomplete until their pool is decided', async () => {
    const unproven = (tokens: readonly [Address, Address] | null) =>
      seedPools(scratch.database, eth, [{ pool: FAKE, tokens, status: 'unproven' }]);
    const completeness = async (...paths: readonly string[]) =>
      Promise.all(paths.map(async (path) => ((await get(path)).body.indexed as { complete: boolean }).complete));
    const paths = [`/erc20/${CATS}/swaps`, `/wallets/${ALICE}/swaps`, `/wallets/${BOB}/swaps`] as const;
    await seedPair();
    const poolKeyOfFake = swapRow(eth, { pool: FAKE, token0: null, token1: null, blockNumber: 1 }).poolKey;
    await seed(
      ...[1, 2, 3, 5, 6].map((blockNumber) => swap({ ...BUY, blockNumber })),
      swap({ ...BUY, blockNumber: 4, pool: FAKE, poolKey: poolKeyOfFake, token0: null, token1: null }),
    );
    expect(await completeness(...paths)).toEqual([true, true, true]);

    await unproven([CATS, WETH]);
    const other = `/erc20/${BOB}/swaps`;
    expect(await completeness(...paths, other)).toEqual([false, false, true, true]);
    // The swap of the undecided pool is older than the first page, and newer than the last block of the other order.
    const pages = ['limit=1', 'limit=1&order=ASC', 'limit=3', 'limit=4&order=ASC'];
    expect(await completeness(...pages.map((query) => `/wallets/${ALICE}/swaps?${query}`))).toEqual([
      ...[true, true, false, false],
    ]);
    await scratch.database.query(sql`UPDATE pools SET token0 = NULL, token1 = NULL WHERE status = 'unproven'`);
    expect(await completeness(...paths, other)).toEqual([false, false, true, false]);
    await scratch.database.query(sql`UPDATE pools SET status = 'disproved' WHERE status = 'unproven'`);
    expect(await completeness(...paths, other)).toEqual([true, true, true, true]);
  });

  test('are not mixed up with others of the same key, nor are their tokens', async () => {
    const twin = (address: Address) =>
      parseAddress(`${address.slice(0, 10)}${'f'.repeat(24)}${address.slice(34)}`);
    const others = [twin(CATS), WETH] as const;
    await seedPools(scratch.database, eth, [
      { pool: PAIR, tokens: TOKENS },
      { pool: twin(PAIR), tokens: others },
    ]);
    await seed(
      swap({ ...BUY, blockNumber: 1 }),
      swap({ ...BUY, blockNumber: 2, pool: twin(PAIR), token0: twin(CATS), wallet: twin(ALICE) }),
    );
    for (const path of [`/erc20/${CATS}/swaps`, `/wallets/${ALICE}/swaps`, `/pairs/${PAIR}/swaps`])
      expect(blocksOf(await get(path))).toEqual([1]);
    expect(blocksOf(await get(`/erc20/${WETH}/swaps`))).toEqual([2, 1]);
  });

  test('with more than two tokens have the tokens of each swap, and unknown ones are left out', async () => {
    await seedPools(scratch.database, eth, [{ pool: PAIR, tokens: null, exchange: 'Balancer v2' }]);
    await seed(swap({ ...BUY, blockNumber: 1 }), swap({ ...BUY, blockNumber: 2, token0: null }));
    const ofPair = await get(`/pairs/${PAIR}/swaps`);
    expect(ofPair.body).toMatchObject({ baseToken: null, quoteToken: null, pairLabel: null });
    expect(blocksOf(ofPair)).toEqual([1]);
    expect(blocksOf(await get(`/erc20/${CATS}/swaps`))).toEqual([1]);
  });
});
