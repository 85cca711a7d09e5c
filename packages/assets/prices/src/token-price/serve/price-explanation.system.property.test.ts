/** Prices of random pools against a recomputation from their explanations. */
import { DEFAULT_PRICING_RULES } from '@chainstead/chains/pricing-rules';
import type { Address } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PricePlace } from '../place/price-place.ts';
import { priceFrom } from '../read/token-price.ts';
import type { PoolHistory } from '../states/pool-history.ts';
import type { StateSince } from '../states/side-depths.ts';
import { recomputePrice } from '../testing/recompute-price.ts';
import { explainPrice } from './price-explanation.ts';

const NOW = 1_700_000_000;
/** The token lies between the anchors, so that it is on either side. */
const [DOLLAR, TOKEN, ETHER] = [addressOf(1), addressOf(2), addressOf(3)];
const DECIMALS = new Map([
  [DOLLAR, 6],
  [TOKEN, 9],
  [ETHER, 18],
]);
const PLACE: PricePlace = {
  ...{ block: 900, time: NOW, runStart: 0, windowStart: 700, ether: { numerator: 2_000n, denominator: 1n } },
  pending: [],
  anchors: [
    { token: DOLLAR, usd: { numerator: 99n, denominator: 100n }, source: { of: 'assumed' } },
    { token: ETHER, usd: { numerator: 2_000n, denominator: 1n }, source: { of: 'pool' } },
  ],
};

const BIN_STEP = 25;
/** 10^3 units of the token per unit of dollars, and 10^9 of ether per unit of the token, in powers of 1.0025. */
const [DOLLAR_BIN, ETHER_BIN] = [2 ** 23 + 2_767, 2 ** 23 + 8_300];

const whole = (token: Address) =>
  fc.bigInt(1n, 3_000n).map((units) => units * 10n ** BigInt(DECIMALS.get(token) ?? 0));

function stateOf(token0: Address, token1: Address, kind: string): fc.Arbitrary<Omit<StateSince, 'since'>> {
  const balances = fc.tuple(whole(token0), whole(token1));
  if (kind === 'bins')
    return fc
      .record({ balances, place: fc.integer({ min: -400, max: 400 }) })
      .map(({ balances: held, place }) => ({
        ...{
          block: 800,
          state: { of: 'bin', activeId: (token0 === TOKEN ? ETHER_BIN : DOLLAR_BIN) + place },
          balances: held,
        },
      }));
  if (kind !== 'v3')
    return balances.map(([reserve0, reserve1]) => ({
      ...{ block: 800, state: { of: 'reserves', reserve0, reserve1 }, balances: [reserve0, reserve1] },
    }));
  return fc
    .record({ balances, price: balances, liquidity: fc.bigInt(1n, 10n ** 16n), isKnown: fc.boolean() })
    .map(({ balances: [balance0, balance1], price: [x, y], liquidity, isKnown }) => ({
      block: 800,
      state: { of: 'price', sqrtPriceX96: squareRoot((y << 192n) / x) + 1n, liquidity, tick: 0 },
      balances: isKnown ? [balance0, balance1] : [null, balance1],
    }));
}

function squareRoot(value: bigint): bigint {
  let root = BigInt(Math.floor(Math.sqrt(Number(value))));
  for (let round = 0; round < 8; round++) root = (root + value / (root + 1n)) >> 1n;
  return root;
}

const pool = (place: number): fc.Arbitrary<PoolHistory> =>
  fc
    .record({
      anchor: fc.constantFrom(DOLLAR, ETHER),
      kind: fc.constantFrom('v2', 'v3', 'stable', 'bins'),
      isYoung: fc.boolean(),
    })
    .chain(({ anchor, kind, isYoung }) => {
      const [token0, token1] = anchor < TOKEN ? [anchor, TOKEN] : [TOKEN, anchor];
      const age = fc.integer({ min: 0, max: isYoung ? 1_700 : 4_000 });
      return fc
        .array(fc.tuple(age, stateOf(token0, token1, kind)), { minLength: 1, maxLength: 5 })
        .map((states) => {
          const dated = states
            .map(([seconds, state]) => ({ ...state, since: NOW - seconds }))
            .toSorted((a, b) => a.since - b.since);
          return {
            ...{ pool: addressOf(100 + place), exchange: 'Example', factory: addressOf(9), token0, token1 },
            ...{
              isStable: kind === 'stable',
              tickSpacing: kind === 'bins' ? BIN_STEP : null,
              states: dated,
              changedAt: dated[0] ?? { block: 0, since: NOW },
            },
            ...{ createdAt: dated[0]?.since ?? NOW, readAt: null, depth: 'known' as const },
          };
        });
    });

test('500 prices follow from their explanations alone', () => {
  const pools = fc
    .integer({ min: 1, max: 5 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, place) => pool(place))));
  const rules = fc.constantFrom(
    DEFAULT_PRICING_RULES,
    { ...DEFAULT_PRICING_RULES, poolsMax: 2 },
    { ...DEFAULT_PRICING_RULES, minSideDepth: { numerator: 0n, denominator: 1n } },
  );
  const seen: string[] = [];
  fc.assert(
    fc.property(pools, rules, (histories, chosen) => {
      const anchors = new Map(PLACE.anchors.map(({ token, usd }) => [token, usd]));
      const price = priceFrom(histories, { anchors, decimals: DECIMALS, rules: chosen }, PLACE);
      if (price.of === 'nothing') return void seen.push('nothing');
      const explanation = JSON.parse(JSON.stringify(explainPrice({ price, place: PLACE, rules: chosen })));
      const again = recomputePrice(explanation);
      const [numerator, denominator] = again?.price ?? [0n, 1n];
      expect(numerator * BigInt(explanation.price_denominator)).toBe(
        denominator * BigInt(explanation.price_numerator),
      );
      const decided = explanation.candidates.find(({ role }: { readonly role: string }) => role === 'chosen');
      expect(again).toMatchObject({ pool: decided?.pair_address, rule: explanation.rule });
      seen.push(explanation.rule);
    }),
    { numRuns: 700, seed: 42 },
  );
  expect(seen.filter((rule) => rule !== 'nothing').length).toBeGreaterThanOrEqual(500);
  expect([...new Set(seen)].sort()).toEqual(['median', 'nothing', 'spot']);
});
