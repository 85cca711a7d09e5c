/** Prices from pools of concentrated liquidity over stored rows. */
import { createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { DIRECTION } from '@chainstead/db/column-types';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { exchangesOf } from '@chainstead/markets/requests';
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

const eth = createChainRegistry().get('eth');
const WETH = wethOf(eth);
const [POOL, PAIR] = [addressOf(0x9b1), addressOf(0x9b2)];
const WINDOW = HEAD - 6;
const FACTORIES = new Map(exchangesOf(eth).all.map((one) => [one.exchange.name, one.deployment.factory]));

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, eth)));

beforeEach(async () => {
  const { database } = scratch;
  await seedEtherChain(database, eth, ['pool-states', 'feed-answers', 'swaps', 'erc20-transfers']);
  for (const table of ['pool_states', 'swaps', 'erc20_transfer_sides'])
    await createPartitions(database, table, eth.id);
  await seedBuilt(database, eth.id, { name: 'erc20-wallet-tokens', version: 2 });
  await seedClass(CATS, 'sum');
});

const cover = (dataset: string, ...runs: readonly (number | readonly [number, number])[]) =>
  coverOnly(
    scratch.database,
    eth,
    dataset,
    ...runs.map((run) => (typeof run === 'number' ? ([run, HEAD] as const) : run)),
  );

async function seedClass(token: Address, kind: 'sum' | 'live'): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES (${hexBytes(token)}, ${eth.id}, ${kind}, 1)
     ON CONFLICT (token, chain_id) DO UPDATE SET class = excluded.class`,
  );
}

async function seedPool(pool: Address, exchange: string): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
     VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${hexBytes(pool)}, 'proven', ${exchange}, ${hexBytes(FACTORIES.get(exchange) ?? '')}, ${hexBytes(CATS)}, ${hexBytes(WETH)}, true, NULL)`,
  );
}

/** The state of the pool after a swap. */
async function seedState(block: number, liquidity = LIQUIDITY, sqrtPrice = SQRT_PRICE): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, sqrt_price_x96, liquidity, tick)
     VALUES (address_key(${hexBytes(POOL)}), ${eth.id}, ${block}, 0, 5, ${hexBytes(POOL)}, ${sqrtPrice.toString()}, ${liquidity.toString()}, 198079)`,
  );
}

/** A change of the pool's liquidity. */
async function seedChange(block: number, delta: bigint, ticks: readonly [number, number]): Promise<void> {
  const pool = sql`${hexBytes(POOL)}`;
  await scratch.database.query(
    sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, tick_lower, tick_upper, kind, pool, liquidity_delta, wallet, transaction_hash)
     VALUES (address_key(${pool}), ${eth.id}, ${block}, 0, 9, ${ticks[0]}, ${ticks[1]}, 1, ${pool}, ${delta.toString()}, ${pool}, sha256('x'))`,
  );
}

/** Balances of the pool that its tokens returned at a block. */
async function seedAnchor(block: number, cats: bigint, ether: bigint): Promise<void> {
  for (const [token, value] of [
    [CATS, cats],
    [WETH, ether],
  ] as const)
    await scratch.database.query(
      sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, anchor_block, anchor_value, anchored_at) VALUES (${hexBytes(POOL)}, ${eth.id}, ${hexBytes(token)}, ${block}, ${value.toString()}, now())`,
    );
}

/** A transfer into the pool, or out of it. */
async function seedTransfer(block: number, token: Address, value: bigint): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO erc20_transfer_sides (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash)
     VALUES (address_key(${hexBytes(POOL)}), ${eth.id}, ${block}, 0, ${token === WETH ? 1 : 2}, ${value > 0n ? DIRECTION.received : DIRECTION.sent}, ${hexBytes(POOL)}, ${hexBytes(token)}, ${hexBytes(addressOf(0xb0b))}, ${(value > 0n ? value : -value).toString()}, sha256('x'))`,
  );
}

const cats = (whole: number): bigint => BigInt(whole) * 10n ** 6n;
const ether = (whole: number): bigint => BigInt(whole) * 10n ** 18n;

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function get(query = ''): Promise<Reply> {
  const response = await api.request(`/api/v2.2/erc20/${CATS}/price${query}`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}

/** Weights of the pools in US dollars. */
async function weights(query = ''): Promise<unknown[]> {
  const { body } = await get(`?explain=true&min_pair_side_liquidity_usd=0${query}`);
  const { candidates } = body.explanation as { candidates: { weight_usd: string }[] };
  return candidates.map((one) => one.weight_usd);
}

/** Pools whose balances a worker was asked to read. */
async function requested(): Promise<unknown[]> {
  const rows = await scratch.database.query<{ question: { wallet: string; tokens: string[] } }>(
    sql`SELECT question FROM state_questions WHERE kind = 'erc20-balances'`,
  );
  return rows.map(({ question: { wallet, tokens } }) => [wallet, ...tokens]);
}

describe('a pool of Uniswap v3 against ether', () => {
  beforeEach(() => seedPool(POOL, 'Uniswap v3'));

  test('has a price from its square root, and depth from balances and virtual reserves', async () => {
    await seedState(10);
    await seedAnchor(HEAD, cats(300_000), ether(50));
    const { status, body } = await get('?explain=true');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ usdPrice: 0.8, pairAddress: POOL, exchangeName: 'Uniswap v3', priceLastChangedAtBlock: '10' },
      ...{ pairTotalLiquidityUsd: '300000.00', indexed: { complete: true } },
      explanation: {
        candidates: [
          {
            ...{ role: 'chosen', weight_usd: '100000.00' },
            sides: [
              { token_address: CATS, balance: '300000000000', virtual_reserve: '250000000000' },
              { token_address: WETH, balance: '50000000000000000000', virtual_reserve: '100000000000000000000' },
            ],
          },
        ],
      },
    });
    expect(await requested()).toEqual([]);
  });

  test('has the depth that lasted: a deposit for one block adds none, and a withdrawal counts at once', async () => {
    await seedState(10);
    await seedAnchor(HEAD, cats(300_000), ether(90));
    await seedTransfer(HEAD, WETH, ether(40));
    expect(await weights()).toEqual(['100000.00']);
    await seedTransfer(HEAD - 4, WETH, ether(10));
    // 40 ether until two blocks into the window, then 50.
    expect(await weights()).toEqual(['100000.00']);
    await scratch.database.query(sql`DELETE FROM erc20_transfer_sides`);
    await seedTransfer(HEAD, WETH, -ether(40));
    expect(await weights()).toEqual(['180000.00']);
    await scratch.database.query(
      sql`UPDATE erc20_wallet_tokens SET anchor_value = ${ether(5).toString()} WHERE token = ${hexBytes(WETH)}`,
    );
    expect(await weights()).toEqual(['10000.00']);
  });

  test('is as deep as what it holds, however much liquidity is in one tick', async () => {
    await seedState(10, LIQUIDITY * 1_000_000n);
    await seedAnchor(HEAD, cats(2_000), ether(1) / 10n);
    expect(await get()).toMatchObject({ status: 404, body: INSUFFICIENT });
    expect(await weights()).toEqual(['200.00']);
  });

  test('counts liquidity that was added in range since the last swap', async () => {
    await seedState(10);
    await seedAnchor(HEAD, cats(10_000_000), ether(1_000));
    await seedChange(20, LIQUIDITY, [198_000, 198_100]);
    await seedChange(30, LIQUIDITY, [198_080, 198_100]);
    expect(await weights()).toEqual(['400000.00']);
    expect(await weights('&to_block=15')).toEqual(['200000.00']);
    await cover('swaps', 11);
    expect(await get()).toMatchObject({ status: 404, body: INSUFFICIENT });
    expect(await requested()).toEqual([]);
  });

  test('has the balances of an earlier block, whichever block they were read at', async () => {
    await seedState(10);
    await seedTransfer(150, WETH, ether(20));
    await seedTransfer(198, WETH, ether(6));
    await seedTransfer(300, WETH, -ether(30));
    await seedTransfer(300, CATS, cats(50_000));
    for (const [block, held] of [
      [HEAD, 16],
      [250, 46],
      [197, 40],
      [100, 20],
    ] as const) {
      await scratch.database.query(sql`DELETE FROM erc20_wallet_tokens`);
      await seedAnchor(block, block < 300 ? cats(200_000) : cats(250_000), ether(held));
      const found = [];
      for (const to of [120, 197, 201, 210, 290, 310, HEAD]) found.push(...(await weights(`&to_block=${to}`)));
      expect(found, `read at block ${block}`).toEqual([
        ...['40000.00', '80000.00', '80000.00', '92000.00', '92000.00', '32000.00', '32000.00'],
      ]);
    }
  });

  test('does not count until its balances are read, and the first request has them read', async () => {
    await seedState(10);
    expect(await get()).toMatchObject({ status: 404, body: INSUFFICIENT });
    expect(await requested()).toEqual([[POOL, CATS, WETH]]);
    await seedPool(PAIR, 'Uniswap v2');
    await scratch.database.query(
      sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
       VALUES (address_key(${hexBytes(PAIR)}), ${eth.id}, 10, 0, 0, ${hexBytes(PAIR)}, ${cats(10_000).toString()}, ${ether(5).toString()})`,
    );
    // The price may change once the depth of the other pool is known.
    expect((await get()).body).toMatchObject({ usdPrice: 1, pairAddress: PAIR, indexed: { complete: false } });
    await seedAnchor(HEAD, cats(300_000), ether(50));
    expect((await get()).body).toMatchObject({ usdPrice: 0.8, pairAddress: POOL, indexed: { complete: true } });
  });

  test('is not read while it could not be deep enough', async () => {
    await seedState(10, LIQUIDITY / 1_000n);
    expect(await get()).toMatchObject({ status: 404, body: INSUFFICIENT });
    expect(await requested()).toEqual([]);
  });

  test('has no depth while transfers are missing in between', async () => {
    await seedState(10);
    await seedAnchor(HEAD, cats(300_000), ether(50));
    const statuses = async (): Promise<number[]> => {
      const found = [];
      for (const block of [200, WINDOW, HEAD]) found.push((await get(`?to_block=${block}`)).status);
      return found;
    };
    expect(await statuses()).toEqual([200, 200, 200]);
    await cover('erc20-transfers', [0, 299], 301);
    expect(await statuses()).toEqual([404, 200, 200]);
    await cover('erc20-transfers', [0, 395], 397);
    expect(await statuses()).toEqual([404, 404, 404]);
    expect(await requested()).toEqual([]);
  });

  test('never counts with a token that changes balances without transfers', async () => {
    await seedClass(CATS, 'live');
    await seedState(10);
    await seedAnchor(HEAD, cats(300_000), ether(50));
    expect(await get()).toMatchObject({ status: 404, body: INSUFFICIENT });
    expect(await requested()).toEqual([]);
  });
});

test.each(['PancakeSwap v3', 'Sushiswap v3', 'Solidly v3'])('a pool of %s counts too', async (exchange) => {
  await seedPool(POOL, exchange);
  await seedState(10);
  await seedAnchor(HEAD, cats(300_000), ether(50));
  expect((await get()).body).toMatchObject({ usdPrice: 0.8, exchangeName: exchange });
});
