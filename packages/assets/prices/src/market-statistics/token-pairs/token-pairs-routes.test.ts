/** Pools of a token over stored rows. Blocks are 300 seconds apart: a day begins after block 112. */
import { ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { withServices } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { poolKey } from '@chainstead/markets/requests';
import { addressOf, hashOf, seedBuilt } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import * as market from '../testing/seeded-market.ts';
import * as pools from '../testing/seeded-pools.ts';
import { readPoolsOfToken } from './token-pairs.ts';
import { aggregatedPairStatsRoute, tokenPairsRoute } from './token-pairs-routes.ts';

const { CATS, DOGS, HEAD, USDC, WETH, eth } = market;
const [DEEP, EVEN, LOPSIDED] = [addressOf(0x9a5), addressOf(0x9a4), addressOf(0x9a3)];
const [DRY, ORDINARY] = [addressOf(0x9a2), addressOf(0x9a1)];
const [CAT, ETHER] = [10n ** 6n, 10n ** 18n];
const NO_TOKENS = addressOf(0x404);

const scratch = scratchOfFile();
const api = madeForFile(() => {
  const balances = market.balancesOf(scratch.database);
  return exampleApi(scratch.database, [withServices(balances, [tokenPairsRoute, aggregatedPairStatsRoute])], {
    onDemand: market.ON_DEMAND,
  });
});

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly pairs: readonly Record<string, unknown>[] };
}

async function get(path: string): Promise<Reply> {
  const response = await api.request(`/api/v2.2/erc20/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}

const addressesOf = ({ body }: Reply) => body.pairs.map((pair) => pair.pair_address);

beforeEach(async () => {
  const { database } = scratch;
  await market.seedMarket(database);
  await market.seedCatsAndDogs(database);
  await pools.seedPool(database, eth, { pool: DEEP, tokens: [CATS, WETH] });
  await pools.seedReserves(database, eth, DEEP, 10, [1_000_000n * CAT, 500n * ETHER]);
  await pools.seedReserves(database, eth, DEEP, 300, [800_000n * CAT, 600n * ETHER]);
  await pools.seedSwap(database, eth, { pool: DEEP, block: 113, amounts: [-10n * CAT, ETHER] });
  await pools.seedSwap(database, eth, { pool: DEEP, block: HEAD, amounts: [10n * CAT, -2n * ETHER] });
  await pools.seedPool(database, eth, { pool: EVEN, tokens: [CATS, WETH], exchange: 'Uniswap v3' });
  await pools.seedPool(database, eth, { pool: LOPSIDED, tokens: [CATS, WETH], exchange: 'Sushiswap v3' });
  for (const [pool, cats] of [
    [EVEN, 300_000n],
    [LOPSIDED, 10n],
  ] as const) {
    // 0.0004 ether per cat.
    await pools.seedRoot(database, eth, pool, 10, 20_000n);
    await pools.seedBalances(database, eth, pool, [
      [CATS, cats * CAT],
      [WETH, 50n * ETHER],
    ]);
  }
  await pools.seedPool(database, eth, { pool: DRY, tokens: [CATS, USDC] });
  await pools.seedPool(database, eth, { pool: ORDINARY, tokens: [CATS, DOGS] });
  await pools.seedReserves(database, eth, ORDINARY, 10, [CAT, ETHER]);
  await pools.seedSwap(database, eth, {
    pool: ORDINARY,
    block: 300,
    tokens: [CATS, DOGS],
    amounts: [CAT, -ETHER],
  });
  // Neither counts.
  await pools.seedPool(database, eth, { pool: addressOf(0x9af), tokens: [DOGS, WETH] });
});

/** Without liquidity, the lower address comes first. */
const ORDER = [DEEP, EVEN, LOPSIDED, ORDINARY, DRY];

describe('the pairs of a token', () => {
  test('have every field, the deepest first', async () => {
    const { status, body } = await get(`${CATS}/pairs`);
    const { pairs, ...envelope } = body;
    expect({ status, envelope }).toEqual({
      status: 200,
      envelope: {
        ...{ cursor: null, page_size: 50, page: 1 },
        indexed: { from_block: '0', to_block: '400', complete: true },
      },
    });
    expect(pairs.map((pair) => pair.pair_address)).toEqual(ORDER);
    expect(pairs[0]).toEqual({
      exchange_name: 'Uniswap v2',
      exchange_address: pools.factoryOf('Uniswap v2'),
      exchange_logo: null,
      pair_address: DEEP,
      pair_label: 'CATS/WETH',
      usd_price: 1.5,
      usd_price_24hr: 1,
      usd_price_24hr_percent_change: 50,
      usd_price_24hr_usd_change: 0.5,
      liquidity_usd: 2_400_000,
      liquidity_skew: 1,
      inactive_pair: false,
      base_token: CATS,
      quote_token: WETH,
      volume_24h_native: 3,
      volume_24h_usd: 6_000,
      pair: [
        {
          ...{ token_address: CATS, token_name: 'CATS token', token_symbol: 'CATS', token_logo: null },
          ...{ token_decimals: '6', pair_token_type: 'token0', liquidity_usd: 1_200_000 },
        },
        {
          ...{ token_address: WETH, token_name: 'WETH token', token_symbol: 'WETH', token_logo: null },
          ...{ token_decimals: '18', pair_token_type: 'token1', liquidity_usd: 1_200_000 },
        },
      ],
    });
  });

  test('have the skew of their balances, and none if a value is unknown', async () => {
    const { body } = await get(`${CATS}/pairs`);
    expect(body.pairs.slice(1)).toMatchObject([
      {
        // 240,000 and 100,000 dollars.
        ...{ usd_price: 0.8, liquidity_usd: 340_000, liquidity_skew: 0.58823529411764708, inactive_pair: true },
        pair: [{ liquidity_usd: 240_000 }, { liquidity_usd: 100_000 }],
      },
      {
        // 8 and 100,000 dollars.
        ...{ usd_price: 0.8, liquidity_usd: 0, liquidity_skew: 16 / 100_008, inactive_pair: true },
        pair: [{ liquidity_usd: 8 }, { liquidity_usd: 100_000 }],
      },
      {
        // The state of the pool has no dollars.
        ...{
          usd_price: null,
          liquidity_usd: null,
          liquidity_skew: 1,
          inactive_pair: false,
          volume_24h_usd: null,
        },
        ...{ volume_24h_native: null, pair: [{ liquidity_usd: null }, { liquidity_usd: null }] },
      },
      { usd_price: null, liquidity_usd: null, liquidity_skew: null, inactive_pair: true, volume_24h_usd: 0 },
    ]);
  });

  test('have no dollars while the price of ether is unknown', async () => {
    await scratch.database.query(sql`DELETE FROM sync_ranges WHERE dataset = 'feed-answers'`);
    const { body } = await get(`${CATS}/pairs`);
    expect(body.pairs.find((pair) => pair.pair_address === DEEP)).toMatchObject({
      ...{ usd_price: null, usd_price_24hr: null, liquidity_usd: null, liquidity_skew: 1, inactive_pair: false },
      ...{ volume_24h_usd: null, volume_24h_native: null },
    });
  });

  test('have no values while decimals are unknown', async () => {
    await scratch.database.query(sql`UPDATE tokens SET decimals = NULL WHERE address = ${hexBytes(CATS)}`);
    const { body } = await get(`${CATS}/pairs?limit=100`);
    const unknown = { usd_price: null, liquidity_usd: null, liquidity_skew: null };
    expect(body.pairs.find((pair) => pair.pair_address === DEEP)).toMatchObject({
      ...{ ...unknown, volume_24h_usd: 6_000 },
      pair: [
        { token_decimals: null, liquidity_usd: null },
        { token_decimals: '18', liquidity_usd: 1_200_000 },
      ],
    });
  });

  test('are those of the blocks that remain after a reorg', async () => {
    for (const table of ['pool_states', 'swaps', 'trades', 'blocks'])
      await scratch.database.query(sql`DELETE FROM ${rawSql(table)} WHERE block_number >= 300`);
    await scratch.database.query(sql`UPDATE sync_ranges SET last_block = 299`);
    const { body } = await get(`${CATS}/pairs`);
    expect(body.pairs[0]).toMatchObject({ usd_price: 1, liquidity_usd: 2_000_000, volume_24h_usd: 2_000 });
    expect(body.indexed).toMatchObject({ to_block: '299' });
  });

  test('come in pages that show the block of the first one', async () => {
    const shown: unknown[] = [];
    let page = await get(`${CATS}/pairs?limit=2`);
    // A later block would make the last one the deepest.
    const next = HEAD + 1;
    await scratch.database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${eth.id}, ${next}, '\\x01', to_timestamp(${market.timeOf(next)}))`,
    );
    await scratch.database.query(sql`UPDATE sync_ranges SET last_block = ${rawSql(next)}`);
    await pools.seedReserves(scratch.database, eth, DRY, next, [10n ** 15n, 10n ** 15n]);
    for (let number = 1; ; number += 1) {
      expect(page.body).toMatchObject({ page: number, page_size: 2 });
      shown.push(...addressesOf(page));
      if (page.body.cursor === null) break;
      page = await get(`${CATS}/pairs?cursor=${page.body.cursor}`);
    }
    expect(shown).toEqual(ORDER);
    expect(addressesOf(await get(`${CATS}/pairs`))[0]).toBe(DRY);
  });

  test('are none of an unknown token, and complete unless a pool waits for its proof', async () => {
    expect((await get(`${NO_TOKENS}/pairs`)).body).toMatchObject({ pairs: [], indexed: { complete: true } });
    for (const token of [NO_TOKENS, CATS]) {
      await pools.seedPool(scratch.database, eth, {
        ...{ pool: addressOf(0x9c0 + (token === CATS ? 1 : 0)), tokens: [token, WETH], status: 'unproven' },
      });
      expect((await get(`${token}/pairs`)).body.indexed).toMatchObject({ complete: false });
    }
    await scratch.database.query(sql`TRUNCATE sync_ranges, blocks`);
    expect((await get(`${CATS}/pairs`)).body).toMatchObject({
      ...{ pairs: [], cursor: null, indexed: { from_block: null, to_block: null, complete: false } },
    });
  });

  test.each([
    ['from a swap', pools.factoryOf('Uniswap v4')],
    ['from its creation', undefined],
  ])('of the wrapped native token include those of the native one, with a pool known %s', async (_, vault) => {
    const id = hashOf(4, 1);
    await pools.seedPool(scratch.database, eth, {
      ...{
        pool: id,
        tokens: [ZERO_ADDRESS, USDC],
        exchange: 'Uniswap v4',
        ...(vault !== undefined && { vault }),
      },
    });
    await pools.seedRoot(scratch.database, eth, id, 10, 1n);
    const reply = await get(`${WETH}/pairs`);
    expect(addressesOf(reply)).toContain(id);
    expect(reply.body.pairs.find((pair) => pair.pair_address === id)).toMatchObject({
      ...{ pair_label: 'ETH/USDC', base_token: WETH, quote_token: USDC, liquidity_usd: null },
    });
  });

  test('have the liquidity of the positions of a pool at a manager, once all changes are indexed', async () => {
    const { database } = scratch;
    const id = hashOf(4, 2);
    await pools.seedPool(database, eth, { pool: id, tokens: [CATS, WETH], exchange: 'Uniswap v4' });
    // The price is 10^12 base units of ether for one of cats, which is tick 276,324.
    await database.query(
      sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, sqrt_price_x96, liquidity, tick)
       VALUES (${poolKey(id)}, ${eth.id}, 10, 0, 0, ${hexBytes(id)}, ${`${10n ** 6n * 2n ** 96n}`}, 0, 276324)`,
    );
    const liquidity = async () => {
      const { pairs } = (await get(`${CATS}/pairs`)).body;
      return pairs.find((pair) => pair.pair_address === id)?.liquidity_usd;
    };
    expect(await liquidity()).toBeNull();
    await seedBuilt(database, eth.id, { name: 'tick-liquidity', version: 1 });
    await database.query(
      sql`INSERT INTO pool_creations (pool_key, chain_id, block_number, transaction_index, log_index, pool, factory, transaction_hash)
       VALUES (${poolKey(id)}, ${eth.id}, 9, 0, 0, ${hexBytes(id)}, ${hexBytes(pools.factoryOf('Uniswap v4'))}, sha256('x'))`,
    );
    await database.query(
      sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, pool, tick_lower, tick_upper, liquidity_delta, wallet, transaction_hash)
       VALUES (${poolKey(id)}, ${eth.id}, 10, 1, 0, 1, ${hexBytes(id)}, -887220, 887220, ${`${10n ** 12n}`}, ${hexBytes(id)}, sha256('x'))`,
    );
    // 10^6 base units of cats and 10^18 of ether.
    expect(await liquidity()).toBeCloseTo(4_000, -1);
  });

  test.each([
    ['cursor=x', 'Cursor is invalid or expired'],
    ['limit=x', 'limit must be a whole number'],
  ])('?%s is refused', async (query, message) => {
    const { status, body } = await get(`${CATS}/pairs?${query}`);
    expect({ status, message: body.message }).toEqual({ status: 400, message: expect.stringContaining(message) });
  });

  test('a cursor of another token is refused', async () => {
    const { body } = await get(`${CATS}/pairs?limit=1`);
    const refused = await get(`${WETH}/pairs?cursor=${body.cursor}`);
    expect(refused.status).toBe(400);
  });
});

test('totals sum the liquidity, and count pools and exchanges with a swap in 24 hours', async () => {
  expect(await get(`${CATS}/pairs/stats`)).toEqual({
    status: 200,
    body: {
      ...{ total_liquidity_usd: 2_740_000, total_active_pairs: 2, total_active_dexes: 1 },
      indexed: { from_block: '0', to_block: '400', complete: true },
    },
  });
  await pools.seedSwap(scratch.database, eth, { pool: EVEN, block: 113, amounts: [-CAT, ETHER] });
  await pools.seedSwap(scratch.database, eth, { pool: LOPSIDED, block: 112, amounts: [-CAT, ETHER] });
  expect((await get(`${CATS}/pairs/stats`)).body).toMatchObject({ total_active_pairs: 3, total_active_dexes: 2 });
  expect((await get(`${NO_TOKENS}/pairs/stats`)).body).toMatchObject({
    ...{ total_liquidity_usd: 0, total_active_pairs: 0, total_active_dexes: 0 },
  });
});

describe('a token with more pools than the bound', () => {
  const poolsOf = async (poolsMax: number, tradesMax = 10) => {
    const found = await readPoolsOfToken(scratch.database, eth, CATS, HEAD, { poolsMax, tradesMax });
    return { pools: found.pools.map(({ pool }) => pool), isWhole: found.isWhole };
  };

  test('has those with the newest trades, and reports it', async () => {
    expect(await poolsOf(5)).toEqual({ pools: [ORDINARY, DRY, LOPSIDED, EVEN, DEEP], isWhole: true });
    expect(await poolsOf(4)).toEqual({ pools: [ORDINARY, DEEP], isWhole: false });
    expect(await poolsOf(1)).toEqual({ pools: [DEEP], isWhole: false });
    // Only the newest trade is considered.
    expect(await poolsOf(4, 1)).toEqual({ pools: [DEEP], isWhole: false });
  });
});
