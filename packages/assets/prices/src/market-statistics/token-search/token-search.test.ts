/** Token search over stored tokens, pools and trades: matches, order, figures and refusals. */
import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { withServices } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  ALICE,
  BOB,
  balancesOf,
  base,
  CATS,
  DOGS,
  eth,
  ON_DEMAND,
  type SeededToken,
  seedMarket,
  seedToken,
  timeOf,
  USDC,
  USDC_OF_BASE,
  WETH,
} from '../testing/seeded-market.ts';
import { seedPool, seedReserves, seedSwap } from '../testing/seeded-pools.ts';
import { tokenSearchRoute } from './token-search-route.ts';

const UNIT = 10n ** 6n;
const [CATSEYE, FAKE, BOBCAT, KITTEN, WILD] = [0x31, 0x32, 0x33, 0x34, 0x35].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const ID = `0x${'9a'.repeat(32)}` as Address;

const scratch = scratchOfFile();
const api = madeForFile(() =>
  exampleApi(
    scratch.database,
    [withServices({ ...balancesOf(scratch.database), served: [base, eth] }, [tokenSearchRoute])],
    { onDemand: ON_DEMAND },
  ),
);

beforeEach(async () => {
  const { database } = scratch;
  await seedMarket(database);
  await seed(eth, CATS, { symbol: 'CATS', name: 'Cats', supply: 1_000n, createdBlock: 5 });
});

const seed = (chain: Chain, token: Address, facts: SeededToken) =>
  seedToken(scratch.database, chain, token, facts);
const poolOf = (token: Address) => addressOf(Number(BigInt(token) & 0xffffn) + 0x9a0000);

/** Stores a pool of a token and USDC with equal reserves. @param tokens whole tokens and dollars */
async function seedMarketOf(chain: Chain, token: Address, tokens: bigint): Promise<void> {
  const dollars = chain === base ? USDC_OF_BASE : USDC;
  await seedPool(scratch.database, chain, { pool: poolOf(token), tokens: [token, dollars] });
  await seedReserves(scratch.database, chain, poolOf(token), 10, [tokens * UNIT, tokens * UNIT]);
}

/** Stores a trade of a token at a price of one dollar. @param bought whole tokens; negative: sold */
async function seedTrade(token: Address, block: number, bought: bigint, wallet = ALICE): Promise<void> {
  const amounts = [-bought * UNIT, bought * UNIT] as const;
  await seedSwap(scratch.database, eth, { pool: poolOf(token), tokens: [token, USDC], block, amounts, wallet });
}

interface Found {
  readonly status: number;
  readonly body: { readonly total: number; readonly result: readonly { readonly tokenAddress: string }[] };
}

async function search(query: Readonly<Record<string, string>>): Promise<Found> {
  const response = await api.request(`/api/v2.2/tokens/search?${new URLSearchParams(query)}`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  return { status: response.status, body: (await response.json()) as Found['body'] };
}

async function found(query: string, more: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const { status, body } = await search({ query, ...more });
  expect([status, body]).toEqual([200, body]);
  return body.result.map(({ tokenAddress }) => tokenAddress);
}

describe('a found token', () => {
  test('has every field, from its pools and trades', async () => {
    const { database } = scratch;
    await seedMarketOf(eth, CATS, 1_000n);
    await seedReserves(database, eth, poolOf(CATS), 395, [1_000n * UNIT, 1_050n * UNIT]);
    await seedTrade(CATS, 400, 30n);
    await seedTrade(CATS, 399, -10n, BOB);
    await seedTrade(CATS, 398, -20n, ALICE);
    await seedTrade(CATS, 300, -50n, BOB);
    await seedTrade(CATS, 50, 7n, addressOf(0xca401));
    expect(await search({ query: 'cats' })).toEqual({
      status: 200,
      body: {
        total: 1,
        result: [
          {
            ...{ tokenAddress: CATS, chainId: '0x1', name: 'Cats', symbol: 'CATS' },
            ...{ blockNumber: 5, blockTimestamp: timeOf(5) },
            ...{ usdPrice: 1.05, marketCap: null, fullyDilutedValuation: 1_050, totalHolders: null },
            totalLiquidityUsd: 2_100,
            // Hour: Alice bought, Bob and Alice sold. Week: one more bought.
            experiencedNetBuyers: { oneHour: -1, oneDay: -1, oneWeek: 0 },
            netVolumeUsd: { oneHour: 0, oneDay: -50 },
            liquidityChangeUSD: { oneHour: 100, oneDay: 100 },
            usdPricePercentChange: { oneHour: 5, oneDay: 5 },
            volumeUsd: { oneHour: 60, oneDay: 110 },
            ...{ securityScore: null, logo: null, isVerifiedContract: false },
            implementations: [{ chainId: '0x1', chain: 'eth', chainName: eth.name, address: CATS }],
          },
        ],
      },
    });
  });

  test('without a pool has no figures', async () => {
    const nothing = { oneHour: null, oneDay: null };
    expect((await search({ query: 'cats' })).body.result).toMatchObject([
      {
        ...{ usdPrice: null, fullyDilutedValuation: null, totalLiquidityUsd: null, volumeUsd: nothing },
        experiencedNetBuyers: { ...nothing, oneWeek: null },
        ...{ netVolumeUsd: nothing, liquidityChangeUSD: nothing, usdPricePercentChange: nothing },
      },
    ]);
  });
});

describe('the order', () => {
  beforeEach(async () => {
    await seed(eth, FAKE, { symbol: 'CATS', name: 'Fake', isSpam: true });
    await seed(eth, CATSEYE, { symbol: 'EYE', name: 'Catseye', isVerified: true });
    await seed(eth, BOBCAT, { symbol: 'BOBCATS', name: 'Bobcat' });
    await seed(eth, KITTEN, { symbol: 'KIT', name: 'Kittens are cats', supply: 1_000_000_000n });
    for (const [token, depth] of [
      [FAKE, 600n],
      [CATSEYE, 600n],
      [BOBCAT, 5_000n],
      [KITTEN, 700n],
    ] as const)
      await seedMarketOf(eth, token, depth);
  });

  test('is exact matches, verified tokens, and volume; tokens without a figure come last', async () => {
    await seedMarketOf(eth, CATS, 1_000n);
    await seedTrade(CATS, 400, 1n);
    await seedTrade(KITTEN, 395, -500n);
    await seedTrade(BOBCAT, 300, 900n);
    await seed(eth, WILD, { symbol: 'CATSY' });
    expect(await found('cats')).toEqual([CATS, FAKE, CATSEYE, KITTEN, BOBCAT, WILD]);
    expect(await found('CATS', { sortBy: 'volume24hDesc' })).toEqual([CATS, FAKE, CATSEYE, BOBCAT, KITTEN, WILD]);
    expect(await found('CatS', { sortBy: 'liquidityDesc', boostVerifiedContracts: 'false' })).toEqual([
      ...[CATS, FAKE],
      ...[BOBCAT, KITTEN, CATSEYE, WILD],
    ]);
    expect(await found('cats', { sortBy: 'marketCapDesc' })).toEqual([CATS, FAKE, CATSEYE, KITTEN, BOBCAT, WILD]);
  });

  test('is that of verified tokens alone if wanted', async () => {
    expect(await found('cats', { isVerifiedContract: 'true' })).toEqual([CATSEYE]);
  });

  test('counts beyond the limit, which is 10 by default and 100 at most', async () => {
    const { body } = await search({ query: 'cats', limit: '2' });
    expect([body.total, body.result.length]).toEqual([5, 2]);
    for (let number = 0; number < 110; number++)
      await seed(eth, addressOf(0x5000 + number), { symbol: `M${number}OUSE` });
    expect((await search({ query: 'ouse' })).body).toMatchObject({ total: 110, result: { length: 10 } });
    expect((await search({ query: 'ouse', limit: '1000' })).body.result).toHaveLength(100);
  });
});

describe('a match', () => {
  test('is a part of the name or symbol in any letter case; wildcards stand for themselves', async () => {
    await seed(eth, WILD, { symbol: '50%_X\\Y', name: 'Half' });
    await seed(eth, KITTEN, { symbol: '50AAXBY', name: 'Ümlaut Ünïcode' });
    for (const query of ['50%', '0%_x', '_X\\', 'X\\y', 'half']) expect(await found(query)).toEqual([WILD]);
    for (const query of ['50_', '%_%', '0%A', '50%_X_Y']) expect(await found(query)).toEqual([]);
    expect(await found('50A')).toEqual([KITTEN]);
    expect(await found('mlaut Ünï')).toEqual([KITTEN]);
  });

  test('of one or two characters is at the beginning', async () => {
    await seed(eth, BOBCAT, { symbol: 'BOBCATS', name: 'Bobcat' });
    await seed(eth, KITTEN, { symbol: 'C', name: 'Kitten' });
    expect(await found('c')).toEqual([KITTEN, CATS]);
    expect(await found('CA')).toEqual([CATS]);
    expect(await found('at')).toEqual([]);
    expect(await found('bo')).toEqual([BOBCAT]);
    expect(await found('_')).toEqual([]);
    expect(await found('%')).toEqual([]);
  });

  test('is no NFT collection', async () => {
    await seed(eth, WILD, { symbol: 'CATS', standard: 'erc721' });
    expect(await found('cats')).toEqual([CATS]);
  });

  test('is on any indexed chain, or on the requested ones', async () => {
    await seed(base, DOGS, { symbol: 'CATS' });
    await seedMarketOf(base, DOGS, 1_000n);
    // The token with a pool comes first.
    expect(await found('cats')).toEqual([DOGS, CATS]);
    expect(await found('cats', { chains: 'eth' })).toEqual([CATS]);
    expect(await found('cats', { 'chains[0]': '0x2105', 'chains[1]': 'eth' })).toEqual([DOGS, CATS]);
    expect((await search({ query: 'cats', chains: 'base' })).body.result).toMatchObject([
      { chainId: '0x2105', usdPrice: 1, totalLiquidityUsd: 2_000, implementations: [{ chain: 'base' }] },
    ]);
  });

  test('of an address is the token, or the base token of a proven pool', async () => {
    await seed(base, CATS, { symbol: 'COPY' });
    expect(await found(CATS, { chains: 'eth' })).toEqual([CATS]);
    expect((await search({ query: CATS.toUpperCase().replace('0X', '0x') })).body.total).toBe(2);
    const { database } = scratch;
    await seedMarketOf(eth, CATS, 1_000n);
    await seedPool(database, eth, { pool: ID, tokens: [addressOf(0), USDC], exchange: 'Uniswap v4' });
    await seedPool(database, eth, { pool: addressOf(0xfa4e), tokens: [CATS, USDC], status: 'unproven' });
    expect(await found(poolOf(CATS))).toEqual([CATS]);
    // The native token of the pool is found as its wrapped one.
    expect(await found(ID)).toEqual([WETH]);
    expect(await found(addressOf(0xfa4e))).toEqual([]);
    expect(await found(addressOf(0x404))).toEqual([]);
    expect(await found(parseAddress(CATS), { isVerifiedContract: 'true' })).toEqual([]);
  });
});

const LENGTH = 'query must be a text of 1 to 128 characters';

test.each([
  [{}, 'query is required'],
  [{ query: '' }, `${LENGTH}, "" was given`],
  [{ query: '   ' }, `${LENGTH}, "   " was given`],
  [{ query: 'a'.repeat(129) }, `${LENGTH}, "${'a'.repeat(120)}…" was given`],
  [{ query: 'cats', limit: '0' }, 'limit must be a whole number from 1 (above 100 means 100), "0" was given'],
  [
    { query: 'cats', sortBy: 'nameAsc' },
    'sortBy: Invalid option: expected one of "volume1hDesc"|"volume24hDesc"|"liquidityDesc"|"marketCapDesc"',
  ],
  [
    { query: 'cats', chains: 'nowhere' },
    'chains.0 must be a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id, "nowhere" was given',
  ],
  [{ query: 'cats', isVerifiedContract: 'maybe' }, 'isVerifiedContract must be true or false, "maybe" was given'],
])('%j is refused', async (query, message) => {
  expect(await search(query)).toEqual({ status: 400, body: { message, details: expect.anything() } });
});
