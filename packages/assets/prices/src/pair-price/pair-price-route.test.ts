/** Prices of pairs over stored pools, by plain HTTP and by the official SDK. */
import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { exchangesOf } from '@chainstead/markets/requests';
import {
  addressOf,
  coverBlocks,
  createPartitions,
  startOfficialSdk,
  storeToken,
  timestampOf,
} from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeAll, expect, test } from 'vitest';
import { priceRoutesOf } from '../token-price/testing/price-routes-of.ts';

const eth = createChainRegistry().get('eth');
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const CATS = parseAddress(`0x${'11'.repeat(20)}`);
const [PAIR, SHALLOW, CONCENTRATED, FAKE] = [0x9a1, 0x9a2, 0x9a3, 0xfa4e].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
];
const HEAD = 20;
const factoryOf = (name: string): Address =>
  exchangesOf(eth).all.find(({ exchange }) => exchange.name === name)?.deployment.factory ?? addressOf(1);

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, eth)));

beforeAll(async () => {
  const { database } = scratch;
  await createPartitions(database, 'pool_states', eth.id);
  for (let number = 0; number <= HEAD; number++)
    await database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${eth.id}, ${number}::int, sha256(${number}::int::text::bytea), to_timestamp(${timestampOf(number) - (number <= 10 ? 3_600 : 0)}))`,
    );
  for (const dataset of ['pool-states', 'feed-answers']) await coverBlocks(database, eth.id, dataset, 0, HEAD);
  const [aggregator] = eth.etherPrice.feed?.aggregators ?? [];
  if (aggregator === undefined) throw new RangeError('Ethereum has an ether feed');
  await seedAnswers(database, eth, [{ aggregator, blockNumber: 0, answer: '200000000000' }]);
  for (const [token, symbol, decimals] of [
    [CATS, 'CATS', 6],
    [WETH, 'WETH', 18],
  ] as const)
    await storeToken(database, eth.id, token, {
      name: `${symbol} token`,
      symbol,
      decimals,
      facts_status: 'known',
    });
  await seedPool(PAIR, 'Uniswap v2', 'proven');
  await seedPool(SHALLOW, 'Sushiswap v2', 'proven');
  await seedPool(CONCENTRATED, 'Uniswap v3', 'proven');
  await seedPool(FAKE, 'Uniswap v2', 'unproven');
  await seedReserves(PAIR, 5, 3_000, 1);
  await seedReserves(PAIR, 10, 4_000, 1);
  await seedReserves(SHALLOW, 5, 100, 1);
  await seedReserves(FAKE, 5, 10n ** 9n, 1);
  await database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, tick, sqrt_price_x96, liquidity)
     VALUES (address_key(${hexBytes(CONCENTRATED)}), ${eth.id}, 5, 0, 0, ${hexBytes(CONCENTRATED)}, 0, ${`${10n ** 6n * 2n ** 96n}`}, 1000000000000000000000000)`,
  );
});

async function seedPool(pool: Address, exchange: string, status: string): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
     VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${hexBytes(pool)}, ${status}, ${exchange}, ${hexBytes(factoryOf(exchange))}, ${hexBytes(CATS)}, ${hexBytes(WETH)}, true, NULL)`,
  );
}

/** Whole tokens. */
async function seedReserves(pool: Address, block: number, cats: number | bigint, ether: number): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
     VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${block}, 0, 0, ${hexBytes(pool)}, ${`${BigInt(cats) * 10n ** 6n}`}, ${`${BigInt(ether) * 10n ** 18n}`})`,
  );
}

async function get(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: response.status, body: await response.json() };
}

const token = (address: Address, symbol: string, decimals: string) => ({
  ...{ address, name: `${symbol} token`, symbol, decimals, logo: null, logo_hash: null, thumbnail: null },
  ...{ created_at: null, possible_spam: false, verified_contract: false },
});

test('the deepest proven pool of known depth decides, in both directions', async () => {
  expect(await get(`${CATS}/${WETH}/price`)).toEqual({
    status: 200,
    body: {
      ...{ pair_address: PAIR, pair_label: 'CATS/WETH', exchange: 'Uniswap v2' },
      ...{ quote_price: '0.00025', price_usd: '0.5' },
      base_token: token(CATS, 'CATS', '6'),
      quote_token: token(WETH, 'WETH', '18'),
    },
  });
  expect((await get(`${WETH}/${CATS}/price`)).body).toMatchObject({
    ...{ pair_address: PAIR, pair_label: 'WETH/CATS', quote_price: '4000', price_usd: '2000' },
    base_token: { symbol: 'WETH' },
  });
});

test.each([
  ['to_block=9', { quote_price: '0.000333333333333333' }],
  [
    `to_date=${new Date((timestampOf(9) - 3_600) * 1_000 + 1_000).toISOString()}`,
    { quote_price: '0.000333333333333333' },
  ],
  ['exchange=sushiswapv2', { pair_address: SHALLOW, quote_price: '0.01' }],
  ['exchange=uniswapv3', { pair_address: CONCENTRATED, quote_price: '1' }],
])('%s', async (query, body) => {
  expect(await get(`${CATS}/${WETH}/price?${query}`)).toMatchObject({ status: 200, body });
});

test('an unknown pair, exchange or state is refused', async () => {
  const refusals = [
    [`${CATS}/${addressOf(0x404)}/price`, 404, 'Pair not found'],
    [`${CATS}/${WETH}/price?exchange=nowhere`, 400, 'exchange is not supported on this chain'],
    [
      `${CATS}/${WETH}/price?to_block=4`,
      404,
      'Pair not found: no state of it is indexed at or before the requested block',
    ],
  ] as const;
  for (const [path, status, message] of refusals)
    expect(await get(path)).toMatchObject({ status, body: { message } });
});

test('the official SDK reads it', async () => {
  const server = await serveApi(api, { host: '127.0.0.1', port: 0 });
  try {
    const { Moralis } = await startOfficialSdk({ address: server.url, apiKey: EXAMPLE_KEY });
    const given = { chain: '0x1', token0Address: CATS, token1Address: WETH, toBlock: 9 };
    const { result } = await Moralis.EvmApi.defi.getPairPrice(given);
    expect(result).toMatchObject({ pairAddress: PAIR, quotePrice: '0.000333333333333333' });
    expect(result.baseToken?.address.lowercase).toBe(CATS);
  } finally {
    await server.close();
  }
});
