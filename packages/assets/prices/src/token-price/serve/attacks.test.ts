/**
 * Attacks on a price, over stored rows (docs/concepts/price-proofs.md#attacks). The honest price is 1 dollar, from a pool with 100,000 dollars on each
 * side. During ten minutes, each attack leaves it within 10 %, or there is no price. Blocks are 60 seconds apart.
 */
import { type Address, type Hex, parseAddress } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { swaps } from '@chainstead/markets/datasets';
import { exchangesOf, poolKey } from '@chainstead/markets/requests';
import { storeRows, swapRow } from '@chainstead/markets/testing';
import { addressOf, seedBuilt } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  ATTACK,
  CATS,
  DOGS,
  eth,
  HEAD,
  resetAttackedChain,
  type SeededPool,
  type State,
  seedPool as seedPoolOf,
  seedToken as seedTokenOf,
  TEN_MINUTES,
  USDC,
  whole,
} from '../testing/attacked-chain.ts';
import { priceRoutesOf } from '../testing/price-routes-of.ts';

const BIRDS = parseAddress(`0x${'33'.repeat(20)}`);
const [HONEST, ATTACKER] = [addressOf(0x9a1), addressOf(0x9a2)];

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, eth)));

beforeEach(() => resetAttackedChain(scratch.database));

const seedPool = (pool: Hex, states: readonly State[], facts?: SeededPool) =>
  seedPoolOf(scratch.database, pool, states, facts);
const seedToken = (token: Address, symbol: string, decimals: number) =>
  seedTokenOf(scratch.database, token, symbol, decimals);
const honestState: State = [2, whole(100_000), whole(100_000)];

async function priceAt(block: number, token = CATS): Promise<number | null> {
  const response = await api.request(`/api/v2.2/erc20/${token}/price?to_block=${block}`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  const body = (await response.json()) as { usdPrice?: number };
  return response.status === 200 && body.usdPrice !== undefined ? body.usdPrice : null;
}

async function pricesOfTenMinutes(): Promise<readonly (number | null)[]> {
  const prices = [];
  for (const block of TEN_MINUTES) prices.push(await priceAt(block));
  return prices;
}

const UNCHANGED = TEN_MINUTES.map(() => 1);

describe('an attack with an own pool', () => {
  beforeEach(() => seedPool(HONEST, [honestState]));

  test.each<[string, readonly State[], SeededPool]>([
    ['without proof, whatever its events say', [[2, whole(1_000), whole(1_000_000)]], { status: 'unproven' }],
    ['whose factory denies it', [[2, whole(1_000), whole(1_000_000)]], { status: 'disproved' }],
    ['whose hook may change amounts', [[2, whole(1_000), whole(1_000_000)]], { isCounted: false }],
    [
      'that is almost empty, by wash trading',
      Array.from({ length: 50 }, (_, at): State => [ATTACK - 40 + at, whole(4 + (at % 2)), whole(400 + at)]),
      {},
    ],
    ['that is fresh, and ten times as deep', [[ATTACK, whole(100_000), whole(10_000_000)]], {}],
    [
      'that is old and shallow, and gets a deposit of one block at a wrong price',
      [
        [2, whole(600), whole(600)],
        [ATTACK, whole(100_000), whole(10_000_000)],
        [ATTACK + 1, whole(600), whole(600)],
      ],
      {},
    ],
    [
      'that pays in a token called USDC',
      [[2, whole(1_000), whole(1_000_000)]],
      { tokens: [CATS, parseAddress(`0x${'33'.repeat(20)}`)] },
    ],
    ['that pays in another worthless token', [[2, whole(1_000), whole(1_000_000)]], { tokens: [CATS, DOGS] }],
  ])('%s leaves the price unchanged', async (_, states, pool) => {
    await seedToken(parseAddress(`0x${'33'.repeat(20)}`), 'USDC', 6);
    await seedPool(ATTACKER, states, pool);
    expect(await pricesOfTenMinutes()).toEqual(UNCHANGED);
  });

  test('of less than half of the depth leaves the price unchanged, for as long as it lasts', async () => {
    await seedPool(ATTACKER, [[2, whole(1_000), whole(99_000)]]);
    expect(await priceAt(HEAD)).toBe(1);
  });
});

describe('an attack with a pool of Uniswap v4', () => {
  const POOL: Hex = `0x${'9f'.repeat(32)}`;
  const MANAGER = exchangesOf(eth).all.find(({ exchange }) => exchange.name === 'Uniswap v4')?.deployment.factory;
  /** A hundred dollars per cat: the root is 10. */
  const [SQRT_PRICE, TICK] = [10n << 96n, 46_054];

  interface ManagedAttack {
    readonly created?: number;
    readonly isCreationIndexed?: boolean;
    /** Liquidity changes: block, change and ticks. */
    readonly changes: readonly (readonly [number, bigint, number, number])[];
    readonly leftOut?: 'untradable' | 'crowded';
    readonly isCounted?: boolean;
  }

  beforeEach(async () => {
    const { database } = scratch;
    await database.query(sql`TRUNCATE swaps, tick_liquidity, pool_creations, projections`);
    await seedBuilt(database, eth.id, { name: 'tick-liquidity', version: 1 });
    await seedPool(HONEST, [honestState]);
  });

  async function seedManaged({
    created = 2,
    isCreationIndexed = true,
    changes,
    leftOut,
    isCounted = true,
  }: ManagedAttack) {
    const { database } = scratch;
    await database.query(
      sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, left_out, due_at)
       VALUES (${poolKey(POOL)}, ${eth.id}, ${hexBytes(POOL)}, 'proven', 'Uniswap v4', ${hexBytes(MANAGER ?? '')}, ${hexBytes(CATS)}, ${hexBytes(USDC)}, ${isCounted}, ${leftOut ?? null}, NULL)`,
    );
    if (isCreationIndexed)
      await database.query(
        sql`INSERT INTO pool_creations (pool_key, chain_id, pool, block_number, transaction_index, log_index, factory, transaction_hash)
         VALUES (${poolKey(POOL)}, ${eth.id}, ${hexBytes(POOL)}, ${created}, 0, 0, ${hexBytes(MANAGER ?? '')}, sha256('x'))`,
      );
    await database.query(
      sql`INSERT INTO pool_states (pool_key, chain_id, pool, block_number, transaction_index, log_index, sqrt_price_x96, liquidity, tick)
       VALUES (${poolKey(POOL)}, ${eth.id}, ${hexBytes(POOL)}, ${created}, 0, 0, ${SQRT_PRICE.toString()}, 0, ${TICK})`,
    );
    const row = { pool: POOL, token0: null, token1: null, amount0: null, amount1: null, vault: MANAGER ?? null };
    const rows = changes.map(([blockNumber, delta, tickLower, tickUpper], logIndex) =>
      swapRow(eth, {
        ...row,
        kind: 1,
        blockNumber,
        logIndex,
        tickLower,
        tickUpper,
        liquidityDelta: delta.toString(),
      }),
    );
    await storeRows(database, eth, swaps, rows);
  }

  const WHOLE = [-887_220, 887_220] as const;
  /** A million dollars and 10,000 cats. */
  const DEEP = 10n ** 11n;

  test('that is honest would set the price: it is old and deeper than the other pool', async () => {
    await seedManaged({ changes: [[3, DEEP, ...WHOLE]] });
    expect(await pricesOfTenMinutes()).toEqual(TEN_MINUTES.map(() => 100));
  });

  test.each<[string, ManagedAttack]>([
    ['whose hook changes amounts, or repeats a trade', { changes: [[3, DEEP, ...WHOLE]], isCounted: false }],
    ['that refuses the trades of others', { changes: [[3, DEEP, ...WHOLE]], leftOut: 'untradable' }],
    ['that is one of a hundred thousand', { changes: [[3, DEEP, ...WHOLE]], leftOut: 'crowded' }],
    // 50,000 dollars at most in one tick, although the virtual reserve is a billion.
    ['with huge liquidity in one tick', { changes: [[3, DEEP * 1_000n, TICK, TICK + 1]] }],
    [
      'with liquidity out of range',
      {
        changes: [
          [3, DEEP, -887_220, TICK - 10],
          [3, 10n, ...WHOLE],
        ],
      },
    ],
    ['whose creation is not indexed', { changes: [[3, DEEP, ...WHOLE]], isCreationIndexed: false }],
    ['that is fresh', { created: ATTACK - 5, changes: [[ATTACK - 5, DEEP, ...WHOLE]] }],
    [
      'that gets a deposit for one block',
      {
        changes: [
          [ATTACK, DEEP, ...WHOLE],
          [ATTACK + 1, -DEEP, ...WHOLE],
        ],
      },
    ],
    ['that holds dust', { changes: [[3, 1_000n, ...WHOLE]] }],
  ])('%s leaves the price unchanged', async (_, attack) => {
    await seedManaged(attack);
    expect(await pricesOfTenMinutes()).toEqual(UNCHANGED);
  });
});

describe('an attack on the honest pool', () => {
  test.each<[string, readonly State[]]>([
    [
      'a push at the end of a block',
      [
        [ATTACK, whole(10_000), whole(1_000_000)],
        [ATTACK + 1, ...honestReserves()],
      ],
    ],
    [
      'a push over several blocks',
      Array.from({ length: 9 }, (_, at): State => {
        const cats = 100_000 - 10_000 * (at + 1);
        return [ATTACK + at, whole(cats), (whole(100_000) * whole(100_000)) / whole(cats)];
      }),
    ],
    ['a sale of as much as the pool holds ten times', [[ATTACK, whole(1_100_000), whole(9_091)]]],
  ])('%s leaves the price within a tenth for ten minutes', async (_, states) => {
    await seedPool(HONEST, [honestState, ...states]);
    for (const price of await pricesOfTenMinutes()) expect(Math.abs((price ?? 1) - 1)).toBeLessThanOrEqual(0.1);
  });

  test('a drained side leaves no price', async () => {
    await seedPool(HONEST, [honestState, [ATTACK, whole(100_000_000), 100n]]);
    expect(await pricesOfTenMinutes()).toEqual(TEN_MINUTES.map(() => null));
  });

  function honestReserves(): readonly [bigint, bigint] {
    return [honestState[1], honestState[2]];
  }
});

/** CATS have a pool against DOGS alone, and DOGS have one against dollars. */
describe('an attack on a price through another token', () => {
  const [HOP, DEEP] = [addressOf(0x9b1), addressOf(0x9b2)];
  const hopState: State = [2, whole(1_000), whole(1_000)];
  const deepState: State = [2, whole(60_000), whole(60_000)];
  const [ofHop, ofDeep] = [{ tokens: [CATS, DOGS] }, { tokens: [DOGS, USDC] }] as const;

  test.each<[string, readonly State[], readonly State[]]>([
    ['none', [], []],
    ['a push of the other token', [], [[ATTACK, whole(6_000), whole(600_000)]]],
    ['a push of the own pool', [[ATTACK, whole(100), whole(10_000)]], []],
    // 8.9 % each, 18.6 % together.
    [
      'a push of both, each below the limit',
      [[ATTACK, whole(958), whole(1_043)]],
      [[ATTACK, whole(57_500), whole(62_608)]],
    ],
    [
      'a deposit of one block at a wrong price',
      [],
      [
        [ATTACK, whole(100_000), whole(10_000_000)],
        [ATTACK + 1, whole(60_000), whole(60_000)],
      ],
    ],
  ])('%s leaves the price within a tenth for ten minutes', async (_, ownStates, otherStates) => {
    await seedPool(HOP, [hopState, ...ownStates], ofHop);
    await seedPool(DEEP, [deepState, ...otherStates], ofDeep);
    expect(await priceAt(ATTACK - 1)).toBe(1);
    for (const price of await pricesOfTenMinutes()) expect(Math.abs((price ?? 1) - 1)).toBeLessThanOrEqual(0.1);
  });

  test.each<[string, readonly State[]]>([
    ['with less than 50,000 dollars', [[2, whole(1), whole(49_999)]]],
    ['that is fresh, however deep', [[ATTACK, whole(1_000), whole(10_000_000)]]],
    [
      'that gets a deposit for one block',
      [
        [2, whole(600), whole(600)],
        [ATTACK, whole(1_000), whole(10_000_000)],
        [ATTACK + 1, whole(600), whole(600)],
      ],
    ],
    ['that was drained', [deepState, [ATTACK - 1, whole(60_000_000), 100n]]],
  ])('a worthless token %s gives no price', async (_, states) => {
    await seedPool(HOP, [hopState], ofHop);
    await seedPool(DEEP, states, ofDeep);
    expect(await pricesOfTenMinutes()).toEqual(TEN_MINUTES.map(() => null));
  });

  test('a fresh pool against a deep token has no say', async () => {
    await seedPool(HOP, [hopState], ofHop);
    await seedPool(DEEP, [deepState], ofDeep);
    await seedPool(ATTACKER, [[ATTACK, whole(1_000), whole(50_000)]], ofHop);
    expect(await pricesOfTenMinutes()).toEqual(UNCHANGED);
  });

  test('there is no second hop, and no cycle', async () => {
    await seedToken(BIRDS, 'BIRDS', 6);
    await seedPool(HOP, [[2, whole(100_000), whole(100_000)]], ofHop);
    await seedPool(ATTACKER, [[2, whole(100_000), whole(100_000)]], { tokens: [DOGS, BIRDS] });
    await seedPool(HONEST, [[2, whole(100_000), whole(100_000)]], { tokens: [CATS, BIRDS] });
    expect([await priceAt(HEAD), await priceAt(HEAD, DOGS), await priceAt(HEAD, BIRDS)]).toEqual([
      null,
      null,
      null,
    ]);
    await seedPool(DEEP, [[2, whole(100_000), whole(200_000)]], { tokens: [BIRDS, USDC] });
    await scratch.database.query(
      sql`DELETE FROM pools WHERE token0 = decode(${CATS.slice(2)}, 'hex') AND token1 = decode(${BIRDS.slice(2)}, 'hex')`,
    );
    expect([await priceAt(HEAD), await priceAt(HEAD, DOGS), await priceAt(HEAD, BIRDS)]).toEqual([null, 2, 2]);
  });

  test('a direct price wins, however shallow its pool', async () => {
    await seedPool(HOP, [[2, whole(10_000), whole(1_000_000)]], ofHop);
    await seedPool(DEEP, [[2, whole(1_000_000), whole(1_000_000)]], ofDeep);
    expect(await priceAt(HEAD)).toBe(100);
    await seedPool(HONEST, [[2, whole(500), whole(500)]]);
    expect(await priceAt(HEAD)).toBe(1);
  });

  test('more than 64 pools leave no price', async () => {
    await seedPool(HOP, [hopState], ofHop);
    await seedPool(DEEP, [deepState], ofDeep);
    for (let dust = 1; dust < 64; dust++)
      await seedPool(addressOf(0xd00 + dust), [], { tokens: [CATS, addressOf(0xe00 + dust)] });
    expect(await priceAt(HEAD)).toBe(1);
    await seedPool(ATTACKER, [], { tokens: [addressOf(0xe), CATS] });
    expect(await priceAt(HEAD)).toBeNull();
  });
});

describe('an extreme token', () => {
  test('without a pool against an anchor has no price', async () => {
    await seedPool(HONEST, [honestState], { tokens: [CATS, DOGS] });
    expect([await priceAt(HEAD), await priceAt(HEAD, DOGS)]).toEqual([null, null]);
  });

  test.each([
    [0, 1_000n, 1_000],
    [77, 10n ** 77n * 1_000n, 1],
    // 1,000 dollars for 10^-180 tokens.
    [255, 10n ** 75n, 1e183],
  ])('of %i decimals has an exact price', async (decimals, reserve, expected) => {
    await seedToken(CATS, 'CATS', decimals);
    const dollars = decimals === 0 ? whole(1_000_000) : whole(1_000);
    await seedPool(HONEST, [[2, reserve, dollars]]);
    expect(await priceAt(HEAD)).toBe(expected);
  });

  test.each([
    ['below 1e-18', 10n ** 6n * 10n ** 24n, whole(1_000), 1e-21],
    ['above 1e18', 1n, whole(1_000_000_000_000), 1e18],
  ])('with a price %s has that price', async (_, cats, dollars, price) => {
    await seedPool(HONEST, [[2, cats, dollars]]);
    expect(await priceAt(HEAD)).toBe(price);
  });
});
