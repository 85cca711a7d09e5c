/** A price through another token: explained, recomputed, and refused while it might change. */
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import {
  CATS,
  DOGS,
  eth,
  HEAD,
  resetAttackedChain,
  seedAnswer,
  seedPool,
  seedToken,
  USDC,
  whole,
} from '../testing/attacked-chain.ts';
import { priceRoutesOf } from '../testing/price-routes-of.ts';
import { recomputePrice } from '../testing/recompute-price.ts';
import type { ShownTokenPrice } from './price-response.ts';

const [HOP, DEEP] = [addressOf(0x9b1), addressOf(0x9b2)];

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, eth)));

beforeEach(async () => {
  await resetAttackedChain(scratch.database);
  await seedPool(scratch.database, HOP, [[2, whole(1_000), whole(3_000)]], { tokens: [CATS, DOGS] });
  await seedPool(scratch.database, DEEP, [[2, whole(60_000), whole(120_000)]], { tokens: [DOGS, USDC] });
});

async function ask() {
  const response = await api.request(`/api/v2.2/erc20/${CATS}/price?to_block=${HEAD}&explain=true`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  return { status: response.status, body: (await response.json()) as ShownTokenPrice };
}

test('shows the hop, and follows from its explanation alone', async () => {
  const { body } = await ask();
  expect(body).toMatchObject({ usdPrice: 6, pairAddress: HOP, pairTotalLiquidityUsd: '12000.00' });
  const explanation = body.explanation;
  if (explanation === undefined) throw new Error('The price is explained');
  // 4.88 % of 6,000 dollars; moving the other pool costs 20 times as much.
  expect(explanation).toMatchObject({
    ...{ rule: 'spot', move_cost_usd: '292.85' },
    rules: { jump_limit: 1.1, hop_min_usd: 50_000, hop_jump_limit: 1.048808 },
    hops: [{ token_address: DOGS, price_usd: '2', depth_usd: '120000.00', rule: 'spot' }],
  });
  const again = recomputePrice(explanation);
  const [numerator, denominator] = again?.price ?? [0n, 1n];
  expect(numerator * BigInt(explanation.price_denominator)).toBe(
    denominator * BigInt(explanation.price_numerator),
  );
  expect(again).toMatchObject({ pool: HOP, rule: 'spot' });
});

test('hops whose pools of the token are shallow have no part in the cost, and those with fresh pools alone are left out', async () => {
  const [BIRDS, FISH] = [addressOf(0x33), addressOf(0x44)];
  await seedPool(scratch.database, addressOf(0x9b5), [[2, whole(25_000), whole(75_000)]], {
    tokens: [CATS, DOGS],
  });
  for (const [place, token] of [BIRDS, FISH].entries()) {
    await seedToken(scratch.database, token, 'OTHER', 6);
    const deep: Parameters<typeof seedPool>[3] = { tokens: [token, USDC] };
    await seedPool(scratch.database, addressOf(0x9c0 + place), [[2, whole(60_000), whole(60_000)]], deep);
  }
  await seedPool(scratch.database, addressOf(0x9c2), [[2, whole(10), whole(60)]], { tokens: [CATS, BIRDS] });
  await seedPool(scratch.database, addressOf(0x9c3), [[HEAD - 5, whole(1_000), whole(6_000)]], {
    tokens: [CATS, FISH],
  });
  const { body } = await ask();
  // 4.88 % of 120,000 dollars for the hop. The pools of BIRDS would take 2,928.53 dollars, and the own ones more.
  expect(body).toMatchObject({ usdPrice: 6, explanation: { move_cost_usd: '5857.06' } });
  const explanation = body.explanation;
  expect(explanation?.candidates.map(({ role }) => role).toSorted()).toEqual([
    'chosen',
    'counted',
    'too-shallow',
  ]);
  expect(explanation?.hops.map((hop) => hop.token_address).toSorted()).toEqual([DOGS, BIRDS].toSorted());
});

test('no price while the price of the hop may change: then the final one', async () => {
  const ofEther = { tokens: [DOGS, eth.wrappedNative ?? USDC] } as const;
  await seedPool(scratch.database, addressOf(0x9b4), [[2, whole(1), whole(1)]], ofEther);
  await seedToken(scratch.database, ofEther.tokens[1], 'WETH', 6);
  expect((await ask()).status).toBe(404);
  await seedAnswer(scratch.database, eth.etherPrice.feed ?? undefined, 1, '200000000000');
  expect((await ask()).body).toMatchObject({ usdPrice: 6, indexed: { complete: true } });
});

test('no price of a token whose supply would be worth more than 10^13 dollars', async () => {
  const supply = (units: bigint) =>
    scratch.database.query(sql`UPDATE tokens SET total_supply = ${units.toString()} WHERE symbol = ${'CATS'}`);
  await supply(whole(1_666_666_666_666));
  expect((await ask()).body).toMatchObject({ usdPrice: 6 });
  await supply(whole(1_666_666_666_667));
  const refused = { status: 404, body: { message: 'Insufficient liquidity in pools to calculate the price' } };
  expect(await ask()).toMatchObject(refused);
  // Also with a direct price, which no hop replaces.
  await seedPool(scratch.database, addressOf(0x9b3), [[2, whole(1_000), whole(7_000)]]);
  expect(await ask()).toMatchObject(refused);
});
