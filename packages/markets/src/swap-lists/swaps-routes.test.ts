/** Swaps of pairs, tokens and wallets: fields, types, filters, and pools that are not listed. */
import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes } from '@chainstead/db';
import { seedTransfers } from '@chainstead/erc20/testing';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import type { ExecutedTransaction } from '@chainstead/sync';
import { addressOf, hashOf, timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import type { PoolId } from '../events/pool-event.ts';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { createMarketRoutes } from '../market-routes.ts';
import { swapRows } from '../swaps/swap-rows.ts';
import type { SwapRow } from '../tables/schema.ts';
import { exampleLog } from '../testing/example-log.ts';
import { noBackfill } from './testing/no-backfill.ts';
import { cover, seedPools, seedStates, seedSwaps, seedToken, swapRow } from './testing/seeded-swaps.ts';

const eth = createChainRegistry().get('eth');
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const CATS = parseAddress(`0x${'11'.repeat(20)}`);
const [PAIR, FAKE, ALICE, BOB] = [addressOf(0x9a1), addressOf(0xfa4e), addressOf(0xa11ce), addressOf(0xb0b)];
const TOKENS = [CATS, WETH] as const;
const CAT = 10n ** 6n;
const ETHER = 10n ** 18n;

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, createMarketRoutes(noBackfill)));

beforeEach(async () => {
  await scratch.database.query(
    'TRUNCATE swaps, trades, pools, pool_states, blocks, sync_ranges, tokens, erc20_transfer_sides',
  );
  await seedToken(scratch.database, eth, CATS, 'CATS', 6);
  await seedToken(scratch.database, eth, WETH, 'WETH', 18);
  await cover(scratch.database, eth, 'swaps', 100);
});

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> & { readonly result: readonly Readonly<Record<string, unknown>>[] };
}

async function get(path: string): Promise<Answer> {
  const response = await api.request(`/api/v2.2${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

const swap = (given: Partial<SwapRow> & Pick<SwapRow, 'blockNumber'>): SwapRow =>
  swapRow(eth, { pool: PAIR, token0: CATS, token1: WETH, ...given });
const seedPair = () => seedPools(scratch.database, eth, [{ pool: PAIR, tokens: TOKENS }]);
const seed = (...rows: readonly SwapRow[]) => seedSwaps(scratch.database, eth, rows);
const blocksOf = ({ body }: Answer) => body.result.map(({ blockNumber }) => blockNumber);
const typesOf = ({ body }: Answer) => body.result.map(({ transactionType }) => transactionType);

const BUY = { amount0: `${-1_500n * CAT}`, amount1: `${ETHER / 2n}` };
const SELL = { amount0: `${3n * CAT}`, amount1: `${-ETHER}` };

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
      ...{ address, name: `${symbol} token`, symbol, logo: null, amount, usdPrice: null, usdAmount: null, tokenType },
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
    await scratch.database.query('TRUNCATE swaps, trades');
    await seed(...rows.map((row, place) => swap({ ...row, blockNumber: 20 + place })));
    const listed = await get(`/pairs/${PAIR}/swaps?transactionTypes=buy,sell`);
    expect(listed.body.result).toMatchObject(
      rows.map(() => ({ transactionType: null, baseQuotePrice: null, subCategory: null })),
    );
    for (const path of [`/pairs/${PAIR}/swaps?transactionTypes=buy`, `/pairs/${PAIR}/swaps?transactionTypes=sell`])
      expect(typesOf(await get(path))).toEqual([]);
    for (const path of [`/erc20/${CATS}/swaps`, `/erc20/${WETH}/swaps`, `/wallets/${ALICE}/swaps`])
      expect(typesOf(await get(path))).toEqual([]);
  });

  test('types are seen from the view of the requested token', async () => {
    expect(blocksOf(await get(`/erc20/${CATS}/swaps?transactionTypes=buy`))).toEqual([5, 1]);
    expect(blocksOf(await get(`/erc20/${WETH}/swaps?transactionTypes=buy`))).toEqual([2]);
    expect(blocksOf(await get(`/wallets/${ALICE}/swaps?transactionTypes=sell`))).toEqual([2]);
    expect(blocksOf(await get(`/wallets/${ALICE}/swaps?transactionTypes=sell&tokenAddress=${WETH}`))).toEqual([5, 1]);
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

describe('the position of a trader', () => {
  const move = (token: Address, from: Address, to: Address, value: bigint, blockNumber: number) => ({
    ...{ token, from, to, value, blockNumber, transactionIndex: 3, logIndex: token === CATS ? 1 : 2 },
  });
  const bought = (blockNumber: number, trader = ALICE) => [
    move(CATS, PAIR, trader, 1_500n * CAT, blockNumber),
    move(WETH, trader, PAIR, ETHER / 2n, blockNumber),
  ];
  const sold = (blockNumber: number, value: bigint) => [
    move(CATS, ALICE, PAIR, value, blockNumber),
    move(WETH, PAIR, ALICE, ETHER, blockNumber),
  ];
  const categories = async (path: string) =>
    (await get(path)).body.result.map(({ blockNumber, subCategory }) => [blockNumber, subCategory]);
  const ALL = [
    [7, null],
    [6, 'newPosition'],
    [5, 'sellAll'],
    [4, 'partialSell'],
    [3, 'accumulation'],
    [2, 'newPosition'],
  ];

  beforeEach(async () => {
    await seedPair();
    await seedTransfers(scratch.database, eth, [
      ...[bought(2), bought(3), sold(4, 1_000n * CAT), sold(5, 2_000n * CAT), bought(6, BOB)].flat(),
    ]);
    await seed(
      ...[2, 3].map((blockNumber) => swap({ ...BUY, blockNumber, transactionIndex: 3 })),
      ...[4, 5].map((blockNumber) => swap({ ...SELL, blockNumber, transactionIndex: 3 })),
      swap({ ...BUY, blockNumber: 6, transactionIndex: 3, beneficiary: BOB }),
      swap({ ...BUY, blockNumber: 7, kind: 1, amount0: '1', amount1: '1' }),
    );
    await cover(scratch.database, eth, 'erc20-transfers', 100);
  });

  test('follows from the balance before a purchase and after a sale, in every list', async () => {
    expect(await categories(`/pairs/${PAIR}/swaps`)).toEqual(ALL);
    for (const path of [`/erc20/${CATS}/swaps`, `/wallets/${ALICE}/swaps`])
      expect(await categories(path)).toEqual(ALL.slice(1));
  });

  test('is unknown without the transfers of every earlier block, and for wrapped tokens without their deposits', async () => {
    const weth = `/wallets/${ALICE}/swaps?tokenAddress=${WETH}`;
    expect(await categories(weth)).toEqual([6, 5, 4, 3, 2].map((block) => [block, null]));
    await cover(scratch.database, eth, 'wrapped-coin-moves', 100);
    await scratch.database.query(
      `UPDATE erc20_transfer_sides SET value = 5 * 10::numeric ^ 18 WHERE token = $1 AND block_number = 4`,
      [hexBytes(WETH)],
    );
    // Bob paid for the last one, and without enough transfers in, the first balances would be below zero.
    expect(await categories(weth)).toEqual([
      [6, null],
      [5, 'accumulation'],
      ...[4, 3, 2].map((block) => [block, null]),
    ]);
    await scratch.database.query(`UPDATE sync_ranges SET first_block = 1 WHERE dataset = 'erc20-transfers'`);
    expect(await categories(`/erc20/${CATS}/swaps`)).toEqual([6, 5, 4, 3, 2].map((block) => [block, null]));
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
  const devApi = await exampleApi(scratch.database, createMarketRoutes(noBackfill), { chains: { find: () => dev } });
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
    await scratch.database.query(`UPDATE pools SET token0 = NULL, token1 = NULL WHERE status = 'unproven'`);
    expect(await completeness(...paths, other)).toEqual([false, false, true, false]);
    await scratch.database.query(`UPDATE pools SET status = 'disproved' WHERE status = 'unproven'`);
    expect(await completeness(...paths, other)).toEqual([true, true, true, true]);
  });

  test('are not mixed up with others of the same key, nor are their tokens', async () => {
    const twin = (address: Address) => parseAddress(`${address.slice(0, 10)}${'f'.repeat(24)}${address.slice(34)}`);
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

/** A transaction with these logs, as the engine hands it to the dataset. */
function transaction(blockNumber: number, logs: readonly ReturnType<typeof exampleLog>[]): ExecutedTransaction {
  const place = { blockNumber, transactionIndex: 0, transactionHash: hashOf(2, blockNumber * 1_000) };
  return {
    ...{ hash: place.transactionHash, from: ALICE, to: BOB, value: 0n },
    logs: logs.map((log, logIndex) => ({
      ...log,
      ...place,
      logIndex,
      blockHash: hashOf(1, blockNumber),
      blockTimestamp: null,
    })),
  } as unknown as ExecutedTransaction;
}

describe('decoded transactions', () => {
  test('a swap of the native token in Uniswap v4 is listed for the wrapped one, and by the id of its pool', async () => {
    const manager =
      exchangesOf(eth).all.find(({ exchange }) => exchange.name === 'Uniswap v4')?.deployment.factory ?? BOB;
    const pool: PoolId = `0x${'4d'.repeat(32)}`;
    await seedPools(scratch.database, eth, [
      { pool, tokens: [ZERO_ADDRESS, CATS], exchange: 'Uniswap v4', factory: manager },
    ]);
    const log = exampleLog(
      'Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)',
      {
        id: pool,
        sender: BOB,
        amount0: -ETHER,
        amount1: 2_000n * CAT,
        sqrtPriceX96: 1n << 96n,
        liquidity: 9n,
        tick: 0,
        fee: 500,
      },
      manager,
    );
    await seed(...swapRows(transaction(8, [log]), eth));
    const ofPair = await get(`/pairs/${pool.toUpperCase().replace('0X', '0x')}/swaps`);
    expect(ofPair.body).toMatchObject({
      pairAddress: pool,
      pairLabel: 'CATS/ETH',
      quoteToken: { address: WETH, symbol: 'ETH', name: 'Ether', amount: null },
      result: [{ transactionType: 'buy', baseTokenAmount: '2000', quoteTokenAmount: '1', baseQuotePrice: '0.0005' }],
    });
    expect((await get(`/erc20/${WETH}/swaps`)).body.result).toMatchObject([
      { pairAddress: pool, transactionType: 'sell', sold: { address: WETH, amount: '1' }, quoteToken: WETH },
    ]);
    expect(blocksOf(await get(`/wallets/${ALICE}/swaps?tokenAddress=${WETH}`))).toEqual([8]);
  });

  test('a swap over several bins of Liquidity Book is one row', async () => {
    // Token X is the higher address here.
    await seedPools(scratch.database, eth, [{ pool: PAIR, tokens: [WETH, CATS], exchange: 'Trader Joe' }]);
    const bin = (id: number, x: bigint, y: bigint) =>
      exampleLog(
        'Swap(address indexed sender, address indexed recipient, uint256 indexed id, bool swapForY, uint256 amountIn, uint256 amountOut, uint256 volatilityAccumulated, uint256 fees)',
        {
          sender: BOB,
          recipient: BOB,
          id: BigInt(id),
          swapForY: true,
          amountIn: x,
          amountOut: y,
          volatilityAccumulated: 0n,
          fees: 0n,
        },
        PAIR,
      );
    await seed(...swapRows(transaction(9, [bin(8_388_608, ETHER, 3n * CAT), bin(8_388_607, ETHER, CAT)]), eth));
    expect((await get(`/pairs/${PAIR}/swaps`)).body).toMatchObject({
      pairLabel: 'CATS/WETH',
      result: [
        { transactionType: 'buy', baseTokenAmount: '4', quoteTokenAmount: '2', baseQuotePrice: '0.5', logIndex: 0 },
      ],
    });
  });
});
