/** Reserves and addresses of pairs, by plain HTTP and by the official SDK. */
import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import {
  addressOf,
  createScratchDatabase,
  type Moralis,
  startOfficialSdk,
  timestampOf,
} from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { pairAddressRoute, pairReservesRoute } from './pair-routes.ts';
import { seedPools, seedStates, seedSwaps, seedToken, swapRow } from './testing/seeded-swaps.ts';

const eth = createChainRegistry().get('eth');
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const [CATS, DOGS] = [parseAddress(`0x${'11'.repeat(20)}`), parseAddress(`0x${'dd'.repeat(20)}`)];
const [PAIR, SHALLOW, DEEP, FAKE] = [addressOf(0x91), addressOf(0x92), addressOf(0x93), addressOf(0xfa4e)];
const factoryOf = (name: string) =>
  exchangesOf(eth).all.find(({ exchange }) => exchange.name === name)?.deployment.factory ?? addressOf(1);

const parts = new AsyncDisposableStack();
let url: string;
let defi: Moralis['EvmApi']['defi'];

beforeAll(async () => {
  const { database } = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const api = await exampleApi(database, [pairReservesRoute, pairAddressRoute]);
  const v2 = { tokens: [CATS, WETH], exchange: 'Uniswap v2', factory: factoryOf('Uniswap v2') } as const;
  const v3 = { tokens: [CATS, WETH], exchange: 'Uniswap v3', factory: factoryOf('Uniswap v3') } as const;
  await seedPools(database, eth, [
    { ...v2, pool: PAIR },
    { ...v2, pool: FAKE, status: 'disproved' },
    { ...v3, pool: SHALLOW },
    { ...v3, pool: DEEP },
  ]);
  const swap = { pool: PAIR, token0: CATS, token1: WETH };
  await seedSwaps(
    database,
    eth,
    [5, 9].map((blockNumber) => swapRow(eth, { ...swap, blockNumber })),
  );
  const place = { chainId: eth.id, transactionIndex: 0, logIndex: 0 };
  const reserves = {
    ...place,
    poolKey: poolKey(PAIR),
    pool: PAIR,
    tick: null,
    sqrtPriceX96: null,
    liquidity: null,
  };
  const price = (pool: typeof DEEP, blockNumber: number, liquidity: string) => ({
    ...{ ...place, poolKey: poolKey(pool), pool, blockNumber, tick: 1, sqrtPriceX96: '5', liquidity },
    ...{ reserve0: null, reserve1: null },
  });
  await seedStates(database, eth, [
    { ...reserves, blockNumber: 5, reserve0: '100', reserve1: '200' },
    { ...reserves, blockNumber: 9, reserve0: '110', reserve1: '190' },
    price(SHALLOW, 5, '1000'),
    price(SHALLOW, 9, '9'),
    price(DEEP, 5, '100'),
  ]);
  await seedToken(database, eth, CATS, 'CATS', 6);
  ({ url } = parts.adopt(await serveApi(api, { host: '127.0.0.1', port: 0 }), (one) => one.close()));
  ({ defi } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: url })).Moralis.EvmApi);
});
afterAll(() => parts.disposeAsync());

async function get(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`${url}/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: response.status, body: await response.json() };
}

const NOT_FOUND = { status: 404, body: { message: 'Pair not found' } };
const NOT_STORED = {
  status: 404,
  body: { message: 'Pair not found: no reserves of it are indexed at or before the requested block' },
};
const date = (block: number) => new Date(timestampOf(block) * 1_000 + 1_000).toISOString();

test.each([
  ['', { reserve0: '110', reserve1: '190' }],
  ['?to_block=8', { reserve0: '100', reserve1: '200' }],
  ['?to_block=9', { reserve0: '110', reserve1: '190' }],
  [`?to_date=${date(5)}`, { reserve0: '100', reserve1: '200' }],
  [`?to_block=9&to_date=${date(5)}`, { reserve0: '110', reserve1: '190' }],
])('reserves are those at the block: %s', async (query, body) => {
  expect(await get(`${PAIR}/reserves${query}`)).toEqual({ status: 200, body });
});

test('a pair without proof has no reserves, nor has one without a stored state at the block', async () => {
  for (const pool of [FAKE, addressOf(0x404)]) expect(await get(`${pool}/reserves`)).toEqual(NOT_FOUND);
  expect(await get(`${PAIR}/reserves?to_block=4`)).toEqual(NOT_STORED);
  expect(await get(`${DEEP}/reserves`)).toEqual(NOT_STORED);
});

test('the official SDK reads reserves', async () => {
  const answer = await defi.getPairReserves({ pairAddress: PAIR, chain: '0x1', toBlock: '8' });
  expect(answer.result).toEqual({ reserve0: '100', reserve1: '200' });
  await expect(defi.getPairReserves({ pairAddress: FAKE, chain: '0x1' })).rejects.toThrow('Pair not found');
});

test('a pair is found by its tokens in any order, and unknown facts are null', async () => {
  const facts = { logo: null, logo_hash: null, thumbnail: null, block_number: null, created_at: null };
  const expected = {
    token0: { ...facts, address: CATS, name: 'CATS token', symbol: 'CATS', decimals: '6', validated: 1 },
    token1: { ...facts, address: WETH, name: null, symbol: null, decimals: null, validated: 0 },
    pairAddress: PAIR,
    exchange: 'Uniswap v2',
    exchangeAddress: factoryOf('Uniswap v2'),
    exchangeLogo: null,
  };
  for (const name of ['uniswapv2', 'Uniswap%20V2', 'uniswap-v2', factoryOf('Uniswap v2')])
    for (const tokens of [`${CATS}/${WETH}`, `${WETH}/${CATS}`])
      expect(await get(`${tokens}/pairAddress?exchange=${name}`)).toEqual({ status: 200, body: expected });
});

test('of several pools the deepest at the block is chosen', async () => {
  const path = `${CATS}/${WETH}/pairAddress?exchange=uniswapv3`;
  expect(await get(path)).toMatchObject({ body: { pairAddress: DEEP } });
  expect(await get(`${path}&to_block=5`)).toMatchObject({ body: { pairAddress: SHALLOW } });
});

test('the official SDK reads the pair of two tokens', async () => {
  const tokens = { token0Address: CATS, token1Address: WETH, chain: '0x1' } as const;
  const answer = await defi.getPairAddress({ ...tokens, exchange: 'uniswapv2' });
  const { token0, token1, pairAddress } = answer.result;
  expect([token0.token.contractAddress.lowercase, token1.token.contractAddress.lowercase]).toEqual([CATS, WETH]);
  expect([token0.token.decimals, token0.token.symbol, pairAddress?.lowercase]).toEqual([6, 'CATS', PAIR]);
});

const ADDRESS = '[C0005] Invalid address provided';
test.each([
  [`${CATS}/${DOGS}/pairAddress?exchange=uniswapv2`, 404, 'Pair not found'],
  [`${CATS}/${WETH}/pairAddress?exchange=nowhere`, 400, 'exchange is not supported on this chain'],
  [`${CATS}/${WETH}/pairAddress?exchange=quickswap`, 400, 'exchange is not supported on this chain'],
  [`${CATS}/0x12/pairAddress?exchange=uniswapv2`, 400, ADDRESS],
  [`0x12/reserves`, 400, ADDRESS],
  [`${PAIR}0/reserves`, 400, ADDRESS],
  [
    `${PAIR}/reserves?to_block=-1`,
    400,
    'to_block must be a block number (a whole number from 0 to 9007199254740991), "-1" was given',
  ],
])('%s is refused', async (path, status, message) => {
  expect(await get(path)).toMatchObject({ status, body: { message } });
});

test('a request without an exchange is refused', async () => {
  const { status, body } = await get(`${CATS}/${WETH}/pairAddress`);
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('exchange')]);
});
