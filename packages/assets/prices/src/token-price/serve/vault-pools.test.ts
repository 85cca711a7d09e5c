/** Prices from pools at the managers of Uniswap v4 and PancakeSwap Infinity over stored rows. */
import { createChainRegistry } from '@chainstead/chains';
import { type Address, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { swaps } from '@chainstead/markets/datasets';
import { exchangesOf, PRICED_FAMILIES, poolKey } from '@chainstead/markets/requests';
import { seedPools, storeRows, swapRow } from '@chainstead/markets/testing';
import { addressOf, createPartitions, seedBuilt } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  CATS,
  coverOnly,
  HEAD,
  INSUFFICIENT,
  LIQUIDITY,
  SQRT_PRICE,
  seedEtherChain,
  wethOf,
} from '../testing/ether-chain.ts';
import { priceRoutesOf } from '../testing/price-routes-of.ts';
import { recomputePrice } from '../testing/recompute-price.ts';
import type { PriceExplanation } from './price-explanation.ts';

const eth = createChainRegistry().get('eth');
const WETH = wethOf(eth);
const POOL: Hex = `0x${'9a'.repeat(32)}`;
const PAIR = addressOf(0x9b2);
const CREATED = 5;
const FACTORIES = new Map(exchangesOf(eth).all.map((one) => [one.exchange.name, one.deployment.factory]));
const MANAGER = FACTORIES.get('Uniswap v4') ?? ZERO_ADDRESS;

const TICK = 198_079;
const WHOLE = [-887_220, 887_220] as const;

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, eth)));
let logs = 0;

beforeEach(async () => {
  const { database } = scratch;
  await seedEtherChain(database, eth, ['pool-states', 'feed-answers', 'swaps']);
  await createPartitions(database, 'pool_states', eth.id);
  await seedBuilt(database, eth.id, { name: 'tick-liquidity', version: 1 });
});

const cover = (dataset: string, ...runs: readonly (readonly [number, number])[]) =>
  coverOnly(scratch.database, eth, dataset, ...runs);

/** The pool with its creation event and its first price. */
async function seedPool(
  tokens: readonly [Address, Address] = [CATS, WETH],
  sqrtPrice = SQRT_PRICE,
  tick = TICK,
): Promise<void> {
  await seedPools(scratch.database, eth, [{ pool: POOL, tokens, exchange: 'Uniswap v4', factory: MANAGER }]);
  await scratch.database.query(
    sql`INSERT INTO pool_creations (pool_key, chain_id, block_number, transaction_index, log_index, pool, factory, transaction_hash)
     VALUES (${poolKey(POOL)}, ${eth.id}, ${CREATED}, 0, 0, ${hexBytes(POOL)}, ${hexBytes(MANAGER)}, sha256('x'))`,
  );
  await seedState(CREATED, 0n, sqrtPrice, tick);
}

/** The state that an event reported. */
async function seedState(block: number, liquidity: bigint, sqrtPrice = SQRT_PRICE, tick = TICK): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, sqrt_price_x96, liquidity, tick)
     VALUES (${poolKey(POOL)}, ${eth.id}, ${block}, 0, 0, ${hexBytes(POOL)}, ${sqrtPrice.toString()}, ${liquidity.toString()}, ${tick})`,
  );
}

/** A change of the pool's liquidity. */
async function seedChange(
  block: number,
  delta: bigint,
  [tickLower, tickUpper]: readonly [number, number] = WHOLE,
): Promise<void> {
  const row = { pool: POOL, token0: null, token1: null, amount0: null, amount1: null, vault: MANAGER };
  const change = {
    tickLower,
    tickUpper,
    liquidityDelta: delta.toString(),
    kind: delta > 0n ? 1 : 2,
    logIndex: ++logs,
  } as const;
  await storeRows(scratch.database, eth, swaps, [swapRow(eth, { ...row, ...change, blockNumber: block })]);
}

async function seedPair(): Promise<void> {
  await seedPools(scratch.database, eth, [
    { pool: PAIR, tokens: [CATS, WETH], factory: FACTORIES.get('Uniswap v2') ?? MANAGER },
  ]);
  await scratch.database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
     VALUES (${poolKey(PAIR)}, ${eth.id}, 10, 0, 0, ${hexBytes(PAIR)}, 10000000000, 5000000000000000000)`,
  );
}

async function get(search = '') {
  const response = await api.request(`/api/v2.2/erc20/${CATS}/price${search}`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  return { status: response.status, body: await response.json() };
}

async function explained(search = ''): Promise<PriceExplanation> {
  const { body } = await get(`?explain=true${search}`);
  return (body as { explanation: PriceExplanation }).explanation;
}

async function weights(search = ''): Promise<string[]> {
  return (await explained(search)).candidates.map((one) => one.weight_usd);
}

test('the price of a pair is that of its deepest pool, also at a pool manager', async () => {
  const pairPrice = async () => {
    const path = `/api/v2.2/${CATS}/${WETH}/price`;
    return (await api.request(path, { headers: { 'x-api-key': EXAMPLE_KEY } })).json();
  };
  await seedPool();
  await seedChange(CREATED + 1, LIQUIDITY);
  await seedState(CREATED + 2, LIQUIDITY);
  expect(await pairPrice()).toMatchObject({ pair_address: POOL, exchange: 'Uniswap v4' });
  await seedPair();
  expect(await pairPrice()).toMatchObject({ pair_address: POOL });
  await scratch.database.query(
    sql`UPDATE pool_states SET reserve0 = 1000 * reserve0, reserve1 = 1000 * reserve1`,
  );
  expect(await pairPrice()).toMatchObject({ pair_address: PAIR });
});

describe('a pool of Uniswap v4 against ether', () => {
  test('has the depth of its positions', async () => {
    await seedPool();
    await seedChange(6, LIQUIDITY);
    const { status, body } = await get('?explain=true');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ usdPrice: 0.8, pairAddress: POOL, exchangeName: 'Uniswap v4', indexed: { complete: true } },
      explanation: {
        candidates: [
          {
            ...{ role: 'chosen', weight_usd: '200000.00' },
            sides: [
              // A position never reaches the end of all prices, and amounts are rounded down.
              { token_address: CATS, balance: '249999999999', virtual_reserve: '250000000000' },
              { token_address: WETH, balance: '99999999999999999999', virtual_reserve: '100000000000000000000' },
            ],
          },
        ],
        move_cost_usd: '9761.77',
        is_move_cost_upper_bound: true,
      },
    });
    const explanation = await explained();
    expect(recomputePrice(explanation)).toMatchObject({ pool: POOL, rule: 'spot' });
    expect(
      await scratch.database.query(sql`SELECT FROM state_questions WHERE kind = ${'erc20-balances'}`),
    ).toEqual([]);
  });

  test('of native ether counts for wrapped ether too', async () => {
    // 2.5e-9 cat units per wei: the root is 0.00005.
    await seedPool([ZERO_ADDRESS, CATS], SQRT_PRICE / 400_000_000n, -TICK - 1);
    await seedChange(6, LIQUIDITY);
    expect((await get()).body).toMatchObject({
      usdPrice: 0.8,
      pairAddress: POOL,
      pairTotalLiquidityUsd: '400000.00',
    });
  });

  test('has the positions of the block, and the median of the window', async () => {
    await seedPool();
    await seedChange(6, LIQUIDITY);
    await seedChange(100, LIQUIDITY);
    await seedChange(200, -LIQUIDITY);
    await seedChange(300, LIQUIDITY);
    const found = [];
    for (const block of [50, 99, 100, 104, 199, 200, 299, 300, 304, HEAD])
      found.push(...(await weights(`&to_block=${block}`)));
    expect(found).toEqual([
      ...['200000.00', '200000.00', '200000.00', '400000.00', '400000.00'],
      ...['200000.00', '200000.00', '200000.00', '400000.00', '400000.00'],
    ]);
  });

  test('holds less of a token after it was sold', async () => {
    await seedPool();
    await seedChange(6, LIQUIDITY);
    // The root falls to a half: 50 ether are left, and twice the cats.
    await seedState(100, LIQUIDITY, SQRT_PRICE / 2n, 184_216);
    const [candidate] = (await explained()).candidates;
    expect(candidate?.sides.map(({ balance }) => balance)).toEqual(['499999999999', '49999999999999999999']);
    expect(candidate?.weight_usd).toBe('100000.00');
  });

  test('is as deep as its positions hold, however much liquidity is in one tick', async () => {
    await seedPool();
    await seedChange(6, LIQUIDITY * 1_000n, [TICK, TICK + 1]);
    expect(await get()).toMatchObject({ status: 200 });
    const [candidate] = (await explained()).candidates;
    // L·(√p − √a) of 5e18 between 1.0001^(198079/2) and 20,000.
    expect(candidate?.sides).toMatchObject([
      { virtual_reserve: '250000000000000' },
      { virtual_reserve: '100000000000000000000000' },
    ]);
    expect(Number(candidate?.weight_usd)).toBeLessThan(10_000);
    await seedChange(7, -LIQUIDITY * 999n, [TICK, TICK + 1]);
    expect(await get()).toMatchObject({ status: 404, body: INSUFFICIENT });
  });

  test('has no say if its creation is not indexed, and the price may change', async () => {
    await seedPool();
    await seedChange(6, LIQUIDITY);
    await seedPair();
    expect((await get()).body).toMatchObject({ usdPrice: 0.8, pairAddress: POOL, indexed: { complete: true } });
    await scratch.database.query(sql`DELETE FROM pool_creations`);
    expect((await get()).body).toMatchObject({ usdPrice: 1, pairAddress: PAIR, indexed: { complete: false } });
  });

  test.each([
    ['before its first liquidity', [[6, HEAD]], false],
    [
      'between its creation and the window',
      [
        [0, 100],
        [102, HEAD],
      ],
      false,
    ],
    ['before its creation only', [[CREATED, HEAD]], true],
  ] as const)('depends on a gap in the indexed swaps %s', async (_, runs, isPriced) => {
    await seedPool();
    await seedChange(6, LIQUIDITY);
    await cover('swaps', ...runs);
    expect((await get()).status).toBe(isPriced ? 200 : 404);
  });

  test('has no say while the sums of its liquidity are built', async () => {
    await seedPool();
    await seedChange(6, LIQUIDITY);
    await seedBuilt(scratch.database, eth.id, { name: 'tick-liquidity', version: 1 }, 'building');
    expect(await get()).toMatchObject({ status: 404, body: INSUFFICIENT });
  });
});

test('a pool of PancakeSwap Infinity has the depth of its positions', async () => {
  const base = createChainRegistry().get('base');
  const { database } = scratch;
  await seedEtherChain(database, base, ['pool-states', 'feed-answers', 'swaps']);
  for (const table of ['pool_states', 'swaps']) await createPartitions(database, table, base.id);
  await seedBuilt(database, base.id, { name: 'tick-liquidity', version: 1 });
  const exchange = 'PancakeSwap Infinity';
  const isConcentrated = (one: ReturnType<typeof exchangesOf>['all'][number]) =>
    one.exchange.name === exchange && PRICED_FAMILIES.includes(one.exchange.family.name);
  const factory = exchangesOf(base).all.find(isConcentrated)?.deployment.factory ?? ZERO_ADDRESS;
  await seedPools(database, base, [{ pool: POOL, tokens: [CATS, wethOf(base)], exchange, factory }]);
  await database.query(
    sql`INSERT INTO pool_creations (pool_key, chain_id, block_number, transaction_index, log_index, pool, factory, transaction_hash)
     VALUES (${poolKey(POOL)}, ${base.id}, ${CREATED}, 0, 0, ${hexBytes(POOL)}, ${hexBytes(factory)}, sha256('x'))`,
  );
  await database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, sqrt_price_x96, liquidity, tick)
     VALUES (${poolKey(POOL)}, ${base.id}, ${CREATED}, 0, 0, ${hexBytes(POOL)}, ${SQRT_PRICE.toString()}, 0, ${TICK})`,
  );
  const [tickLower, tickUpper] = WHOLE;
  const position = { pool: POOL, token0: null, token1: null, amount0: null, amount1: null, vault: factory };
  const change = {
    tickLower,
    tickUpper,
    liquidityDelta: LIQUIDITY.toString(),
    kind: 1,
    logIndex: 1,
    blockNumber: 6,
  } as const;
  await storeRows(database, base, swaps, [swapRow(base, { ...position, ...change })]);
  const onBase = await exampleApi(database, priceRoutesOf(database, base));
  const response = await onBase.request(`/api/v2.2/erc20/${CATS}/price?chain=base&explain=true`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  expect([response.status, await response.json()]).toMatchObject([
    200,
    {
      ...{ usdPrice: 0.8, pairAddress: POOL, exchangeName: exchange, indexed: { complete: true } },
      explanation: {
        candidates: [
          {
            weight_usd: '200000.00',
            sides: [{ balance: '249999999999' }, { balance: '99999999999999999999' }],
          },
        ],
      },
    },
  ]);
});
