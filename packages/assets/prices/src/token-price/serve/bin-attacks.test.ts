/**
 * Attacks on a price with a Liquidity Book pair, over the rows of its logs (docs/concepts/price-proofs.md#attacks). The honest price is 1 dollar, from a
 * pool with 100,000 dollars on each side. During ten minutes, each attack leaves it there. Blocks are 60 seconds apart.
 */
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import {
  ATTACK,
  CATS,
  eth,
  HEAD,
  resetAttackedChain,
  seedPool,
  TEN_MINUTES,
  USDC,
  whole,
} from '../testing/attacked-chain.ts';
import { deposited, MIDDLE, seedBinPair, storeBinBlock, swapped, withdrawn } from '../testing/bin-pair.ts';
import { coverOnly } from '../testing/ether-chain.ts';
import { priceRoutesOf } from '../testing/price-routes-of.ts';

const [HONEST, PAIR] = [addressOf(0x9a1), addressOf(0x9a2)];
/** 1.01^463 is 100.16 dollars per cat. */
const FALSE_BIN = MIDDLE + 463;

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, eth)));

beforeEach(async () => {
  const { database } = scratch;
  await database.query(sql`TRUNCATE bin_changes, bin_reserves, pool_creations, projections`);
  await resetAttackedChain(database);
  await coverOnly(database, eth, 'bin-changes', [0, HEAD]);
  await seedPool(database, HONEST, [[2, whole(100_000), whole(100_000)]]);
});

type Block = readonly [number: number, ...logs: Parameters<typeof storeBinBlock>[3]];

interface BinAttack {
  readonly createdAt?: number | null;
  readonly blocks: readonly Block[];
}

async function attack({ createdAt = 2, blocks }: BinAttack): Promise<void> {
  await seedBinPair(scratch.database, eth, { pool: PAIR, tokens: [CATS, USDC], createdAt });
  for (const [block, ...logs] of blocks) await storeBinBlock(scratch.database, eth, block, logs);
}

async function pricesOfTenMinutes(): Promise<readonly (number | null)[]> {
  const prices = [];
  for (const block of TEN_MINUTES) {
    const response = await api.request(`/api/v2.2/erc20/${CATS}/price?to_block=${block}`, {
      headers: { 'x-api-key': EXAMPLE_KEY },
    });
    const { usdPrice = null } = (await response.json()) as { usdPrice?: number };
    prices.push(usdPrice);
  }
  return prices;
}

/** Cats and dollars in a bin, by its distance from the false price. */
const bin = (distance: number, cats: number, dollars: number) =>
  [FALSE_BIN + distance, whole(cats), whole(dollars)] as const;
/** Keeps the false price active: one unit for another. */
const dust = swapped(PAIR, [FALSE_BIN, 1n, -1n]);
const dustDeposit = deposited(PAIR, [[FALSE_BIN, 1_000n, 1_000n]]);
const deep = [bin(0, 10_000, 500_000), bin(-9, 0, 500_000), bin(9, 10_000, 0)];

test('a pair that is honest would set the price: it is old and deeper than the other pool', async () => {
  await attack({ blocks: [[3, deposited(PAIR, deep), dust]] });
  const [first = 0, ...others] = await pricesOfTenMinutes();
  expect(first).toBeCloseTo(100.16, 1);
  expect(others).toEqual([first, first, first]);
});

test.each<[string, BinAttack]>([
  [
    'with a huge balance far from the price, and dust in the active bin',
    { blocks: [[3, dustDeposit, deposited(PAIR, [bin(-10, 0, 90_000_000), bin(10, 90_000_000, 0)]), dust]] },
  ],
  [
    'with a false price in an empty range',
    {
      blocks: [
        [3, dustDeposit, deposited(PAIR, [bin(-400, 0, 90_000_000), bin(400, 90_000_000, 0)]), dust],
        [4, withdrawn(PAIR, [[FALSE_BIN, 1_001n, 999n]])],
      ],
    },
  ],
  [
    'whose active bin was emptied before the attack',
    {
      blocks: [
        [3, deposited(PAIR, [bin(0, 10_000, 1_000_000)]), dust],
        [ATTACK - 31, withdrawn(PAIR, [[FALSE_BIN, whole(10_000) + 1n, whole(1_000_000) - 1n]])],
      ],
    },
  ],
  [
    'that holds tokens but no dollars',
    { blocks: [[3, dustDeposit, deposited(PAIR, [bin(1, 9_000_000, 0)]), dust]] },
  ],
  [
    'that holds dollars but no tokens',
    { blocks: [[3, dustDeposit, deposited(PAIR, [bin(-1, 0, 900_000)]), dust]] },
  ],
  ['that is fresh', { createdAt: ATTACK - 5, blocks: [[ATTACK - 5, deposited(PAIR, deep), dust]] }],
  [
    'whose first swap is fresh',
    {
      blocks: [
        [3, deposited(PAIR, deep)],
        [ATTACK, dust],
      ],
    },
  ],
  [
    'that gets a deposit for one block',
    {
      blocks: [
        [3, dustDeposit, dust],
        [ATTACK, deposited(PAIR, deep)],
        [ATTACK + 1, withdrawn(PAIR, deep)],
      ],
    },
  ],
  [
    'that gets a deposit to stay',
    {
      blocks: [
        [3, dustDeposit, dust],
        [ATTACK, deposited(PAIR, deep)],
      ],
    },
  ],
  [
    'that moves to its far tokens for one block',
    {
      blocks: [
        [3, dustDeposit, deposited(PAIR, [bin(300, 10_000, 0), bin(295, 0, 900_000)]), dust],
        [ATTACK, swapped(PAIR, bin(300, -1, 1))],
        [ATTACK + 1, dust],
      ],
    },
  ],
  ['whose creation is not indexed', { createdAt: null, blocks: [[3, deposited(PAIR, deep), dust]] }],
  ['with less than half of the depth', { blocks: [[3, deposited(PAIR, [bin(0, 10_000, 99_000)]), dust]] }],
  [
    'whose deposit another contract reports',
    { blocks: [[3, dustDeposit, { ...deposited(PAIR, deep), address: addressOf(0xbad) }, dust]] },
  ],
])('a pair %s leaves the price unchanged', async (_, given) => {
  await attack(given);
  expect(await pricesOfTenMinutes()).toEqual(TEN_MINUTES.map(() => 1));
});

test('a push of the only pair leaves the price within a tenth for ten minutes', async () => {
  await scratch.database.query(sql`TRUNCATE pools, pool_states`);
  await attack({
    blocks: [
      [3, deposited(PAIR, [bin(0, 1_000, 100_000), bin(50, 1_000, 0)]), dust],
      // All cats of the bin are bought, and some of those 64 % above.
      [ATTACK, swapped(PAIR, bin(0, -1_000, 100_160)), swapped(PAIR, bin(50, -1, 164))],
    ],
  });
  for (const price of await pricesOfTenMinutes())
    expect(Math.abs((price ?? 100.16) / 100.16 - 1)).toBeLessThan(0.1);
});
