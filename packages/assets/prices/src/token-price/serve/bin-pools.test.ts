/** Prices from Liquidity Book pairs over the rows of their logs. A cat is worth one dollar in the bin in the middle. Blocks are a minute apart. */
import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf, createPartitions, seedBuilt } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { CATS, eth, HEAD, resetAttackedChain, seedPool, USDC, whole } from '../testing/attacked-chain.ts';
import {
  BINS_BUILT,
  deposited,
  deposited20,
  MIDDLE,
  seedBinPair,
  storeBinBlock,
  swapped,
  swapped20,
  withdrawn,
} from '../testing/bin-pair.ts';
import { coverOnly, CATS as ETHER_CATS, INSUFFICIENT, seedEtherChain, wethOf } from '../testing/ether-chain.ts';
import { priceRoutesOf } from '../testing/price-routes-of.ts';
import { recomputePrice } from '../testing/recompute-price.ts';
import type { PriceExplanation } from './price-explanation.ts';

const [PAIR, OTHER] = [addressOf(0x1b1), addressOf(0x9b2)];
const CREATED = 2;

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, eth)));

beforeEach(async () => {
  const { database } = scratch;
  await database.query(
    sql`TRUNCATE bin_changes, bin_reserves, pool_creations, projections, state_questions, erc20_wallet_tokens`,
  );
  await resetAttackedChain(database);
  await coverOnly(database, eth, 'bin-changes', [0, HEAD]);
});

const store = (block: number, ...logs: Parameters<typeof storeBinBlock>[3]) =>
  storeBinBlock(scratch.database, eth, block, logs);
const seedPair = (createdAt: number | null = CREATED) =>
  seedBinPair(scratch.database, eth, { pool: PAIR, tokens: [CATS, USDC], createdAt });

/** Cats in each of the bins from the middle up, and dollars from it down. */
function spread(bins: number, perBin: number, first = 0): Parameters<typeof deposited>[1] {
  const places = Array.from({ length: bins }, (_, place) => first + place);
  return [
    ...places.map((place) => [MIDDLE + place, whole(perBin), 0n] as const),
    ...places.map((place) => [MIDDLE - place, 0n, whole(perBin)] as const),
  ];
}

/** Ten bins of 1 % lie within a tenth: 1,000 cats and 1,000 dollars. The swap reports the active bin. */
async function seedFilledPair(): Promise<void> {
  await seedPair();
  await store(3, deposited(PAIR, spread(10, 100)), swapped(PAIR, [MIDDLE, 5n, -5n]));
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

async function weights(...blocks: readonly number[]): Promise<(string | undefined)[]> {
  const found = [];
  for (const block of blocks)
    found.push((await explained(`&to_block=${block}&min_pair_side_liquidity_usd=0`)).candidates[0]?.weight_usd);
  return found;
}

/** Indexes transfers, of which there are none. */
async function coverTransfers(): Promise<void> {
  const { database } = scratch;
  await coverOnly(database, eth, 'erc20-transfers', [0, HEAD]);
  await createPartitions(database, 'erc20_transfer_sides', eth.id);
  await seedBuilt(database, eth.id, { name: 'erc20-wallet-tokens', version: 2 });
}

/** The balances that the tokens returned for the pair at the head. */
async function seedBalances(cats: bigint, dollars: bigint): Promise<void> {
  const { database } = scratch;
  await coverTransfers();
  for (const [token, value] of [
    [CATS, cats],
    [USDC, dollars],
  ] as const)
    await database.query(
      sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, anchor_block, anchor_value, anchored_at) VALUES (${hexBytes(PAIR)}, ${eth.id}, ${hexBytes(token)}, ${rawSql(HEAD)}, ${value.toString()}, now())`,
    );
}

describe('a pair against dollars', () => {
  test('has the depth of its near bins', async () => {
    await seedFilledPair();
    const { status, body } = await get('?explain=true');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ usdPrice: 1, pairAddress: PAIR, exchangeName: 'Trader Joe (Liquidity Book 2.1)' },
      ...{ pairTotalLiquidityUsd: '2000.00', indexed: { complete: true } },
      explanation: {
        candidates: [
          {
            ...{ role: 'chosen', weight_usd: '1000.00', bin_step: 100, is_stable: null, reading_block: null },
            sides: [
              { token_address: CATS, balance: '1000000005', virtual_reserve: null },
              { token_address: USDC, balance: '999999995', virtual_reserve: null },
            ],
            states: [
              {
                ...{ block: '3', active_bin: MIDDLE, balance0: '1000000005', balance1: '999999995' },
                ...{ reserve0: null, reserve1: null, sqrt_price_x96: null, liquidity: null },
              },
            ],
          },
        ],
        // The cats of the near bins cost at most a tenth more.
        move_cost_usd: '1100.00',
        is_move_cost_upper_bound: true,
      },
    });
    expect(recomputePrice(await explained())).toMatchObject({ pool: PAIR, rule: 'spot' });
    expect(
      await scratch.database.query(sql`SELECT FROM state_questions WHERE kind = ${'erc20-balances'}`),
    ).toEqual([]);
  });

  test('has no state before its first swap, although it holds tokens', async () => {
    await seedPair();
    await store(3, deposited(PAIR, spread(10, 100)));
    expect((await get()).status).toBe(404);
    await store(4, swapped(PAIR, [MIDDLE + 1, -1n, 1n]));
    expect((await get()).body).toMatchObject({ usdPrice: 1.01, pairAddress: PAIR });
  });

  test('does not count tokens farther away than a tenth', async () => {
    await seedFilledPair();
    await store(4, deposited(PAIR, spread(50, 1_000_000, 10)));
    expect(await weights(HEAD)).toEqual(['1000.00']);
  });

  test('has the bins near its price after it moved', async () => {
    await seedFilledPair();
    // All cats of five bins are sold. The lower five bins of dollars go out of reach.
    const swaps = [0, 1, 2, 3, 4].map((place) => swapped(PAIR, [MIDDLE + place, -whole(100), whole(110)]));
    await store(100, ...swaps, swapped(PAIR, [MIDDLE + 5, -whole(1), whole(1)]));
    const [candidate] = (await explained()).candidates;
    expect(candidate?.states.map(({ active_bin: bin }) => bin)).toEqual([MIDDLE + 5]);
    // 100 cats in each of the bins 5 to 9, less one. The bins 0 to 4 got 110 dollars each, and bin 5 got one. Bin 0 and four below had 100 each.
    expect(candidate?.sides.map(({ balance }) => balance)).toEqual(['499000000', '1050999995']);
  });

  test('has the bins of the block, and the median of the window', async () => {
    await seedFilledPair();
    await store(100, deposited(PAIR, spread(10, 100)));
    await store(150, withdrawn(PAIR, spread(10, 150)));
    const blocks = [50, 99, 100, 114, 116, 130, 149, 150, 151, HEAD];
    expect(await weights(...blocks)).toEqual([
      ...['1000.00', '1000.00', '1000.00', '1000.00', '2000.00', '2000.00', '2000.00'],
      ...['500.00', '500.00', '500.00'],
    ]);
  });

  test('keeps the price of an empty active bin, at the depth of its neighbours', async () => {
    await seedFilledPair();
    await store(4, withdrawn(PAIR, [[MIDDLE, whole(100) + 5n, whole(100) - 5n]]));
    expect((await get()).body).toMatchObject({ usdPrice: 1, pairTotalLiquidityUsd: '1800.00' });
    await store(5, withdrawn(PAIR, spread(9, 100, 1)));
    expect(await get()).toMatchObject({ status: 404, body: INSUFFICIENT });
  });

  test('has no say if its creation is not indexed, and the price may change', async () => {
    await seedFilledPair();
    await seedPool(scratch.database, OTHER, [[2, whole(600), whole(1_200)]]);
    expect((await get()).body).toMatchObject({ usdPrice: 2, indexed: { complete: true } });
    await store(5, deposited(PAIR, spread(10, 100)));
    expect((await get()).body).toMatchObject({ usdPrice: 1, pairAddress: PAIR, indexed: { complete: true } });
    await scratch.database.query(sql`DELETE FROM pool_creations`);
    expect((await get()).body).toMatchObject({ usdPrice: 2, pairAddress: OTHER, indexed: { complete: false } });
  });

  test.each([
    ['dust', 499n, 1_000_000n, true],
    ['dust on the other side', 1_000_000n, 499n, true],
    ['enough to matter', 500n, 500n, false],
  ])(
    'that is older than the index leaves the price complete or not: it holds %s',
    async (_, cats, dollars, isComplete) => {
      await seedPair(null);
      await store(3, swapped(PAIR, [MIDDLE, 5n, -5n]));
      await seedPool(scratch.database, OTHER, [[2, whole(600), whole(600)]]);
      await seedBalances(whole(Number(cats)), whole(Number(dollars)));
      const { body } = await get('?explain=true');
      expect(body).toMatchObject({ usdPrice: 1, pairAddress: OTHER, indexed: { complete: isComplete } });
      const { candidates } = (body as { explanation: PriceExplanation }).explanation;
      expect(candidates.find(({ pair_address: pool }) => pool === PAIR)).toMatchObject({
        ...{ role: 'too-shallow', weight_usd: '0.00', sides: [{ balance: null }, { balance: null }] },
      });
    },
  );

  test('that is older than the index has its balances read once', async () => {
    await seedPair(null);
    await store(3, swapped(PAIR, [MIDDLE, 5n, -5n]));
    await coverTransfers();
    expect((await get()).status).toBe(404);
    const questions = await scratch.database.query(
      sql`SELECT FROM state_questions WHERE kind = ${'erc20-balances'}`,
    );
    expect(questions).toHaveLength(1);
  });

  test.each([
    ['before its first liquidity', [[3, HEAD]], false],
    [
      'between its creation and the window',
      [
        [0, 100],
        [102, HEAD],
      ],
      false,
    ],
    ['before its creation only', [[CREATED, HEAD]], true],
  ] as const)('depends on a gap in the indexed changes %s', async (_, runs, isPriced) => {
    await seedFilledPair();
    await coverOnly(scratch.database, eth, 'bin-changes', ...runs);
    expect((await get()).status).toBe(isPriced ? 200 : 404);
  });

  test('has no say while the sums of its bins are built', async () => {
    await seedFilledPair();
    await seedBuilt(scratch.database, eth.id, BINS_BUILT, 'building');
    expect(await get()).toMatchObject({ status: 404, body: INSUFFICIENT });
  });
});

/** Ether is token X or Y: its address is above that of the cats, but the creator of a pair chooses the order. */
test.each([
  ['2.0', false],
  ['2.1', true],
  ['2.2', false],
] as const)('a pair of version %s has a price against ether', async (version, isEtherFirst) => {
  const arbitrum = createChainRegistry().get('arbitrum');
  const { database } = scratch;
  await seedEtherChain(database, arbitrum, ['pool-states', 'feed-answers', 'bin-changes']);
  await createPartitions(database, 'pool_states', arbitrum.id);
  const ether = 10n ** 18n;
  const tokens = isEtherFirst
    ? ([wethOf(arbitrum), ETHER_CATS] as const)
    : ([ETHER_CATS, wethOf(arbitrum)] as const);
  await seedBinPair(database, arbitrum, { pool: PAIR, tokens, version, createdAt: CREATED });
  // One wei per unit of a cat: a cat is worth 2e-9 dollars.
  const logs =
    version === '2.0'
      ? [deposited20(PAIR, [MIDDLE, ether, ether]), swapped20(PAIR, [MIDDLE, 7n, -7n])]
      : [deposited(PAIR, [[MIDDLE, ether, ether]]), swapped(PAIR, [MIDDLE, 7n, -7n])];
  await storeBinBlock(database, arbitrum, 3, logs);
  const onArbitrum = await exampleApi(database, priceRoutesOf(database, arbitrum));
  const response = await onArbitrum.request(`/api/v2.2/erc20/${ETHER_CATS}/price?chain=arbitrum&explain=true`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  expect([response.status, await response.json()]).toMatchObject([
    200,
    {
      ...{ usdPrice: 2e-9, pairAddress: PAIR, exchangeName: `Trader Joe (Liquidity Book ${version})` },
      explanation: {
        candidates: [
          {
            weight_usd: '2000.00',
            sides: [{ balance: '1000000000000000007' }, { balance: '999999999999999993' }],
          },
        ],
      },
    },
  ]);
});
