import { DEFAULT_PRICING_RULES } from '@chainstead/chains/pricing-rules';
import { compareFractions, type Fraction, wholeFraction } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decidePrice,
  heldSeconds,
  type PriceCandidate,
  type PriceDecision,
  type TimedValue,
  timeWeightedMedian,
} from './decide-price.ts';

const NOW = 1_700_000_000;
const MINUTE = 60;
const DAY = 86_400;

/** Values by the minutes before now at which they were set, oldest first. */
const timed = (...values: readonly (readonly [minutesAgo: number, value: number])[]): TimedValue[] =>
  values.map(([minutesAgo, value]) => ({
    since: NOW - minutesAgo * MINUTE,
    value: wholeFraction(BigInt(value)),
  }));
const always = (value: number): TimedValue[] => timed([1_440, value]);

/** An old pool with this price and so many dollars on each side. */
function poolOf(pool: string, price: TimedValue[] | number, depth: TimedValue[] | number): PriceCandidate {
  const depths = typeof depth === 'number' ? always(depth) : depth;
  return {
    pool,
    price: typeof price === 'number' ? always(price) : price,
    anchorDepth: depths,
    tokenDepth: depths,
    createdAt: NOW - DAY,
  };
}

const numberOf = ({ numerator, denominator }: Fraction): number => Number(numerator) / Number(denominator);
const decide = (candidates: readonly PriceCandidate[]) => decidePrice(candidates, NOW, DEFAULT_PRICING_RULES);
const decided = (candidates: readonly PriceCandidate[]): PriceDecision => {
  const decision = decide(candidates);
  if ('reason' in decision) throw new RangeError(`No price: ${decision.reason}`);
  return decision;
};
const priceOf = (...candidates: readonly PriceCandidate[]): number | null => {
  const decision = decide(candidates);
  return 'reason' in decision ? null : numberOf(decision.price);
};
const rolesOf = (...candidates: readonly PriceCandidate[]) =>
  decide(candidates).candidates.map(({ role }) => role);

describe('the price of a token', () => {
  test('is that of the pool at half of all depth', () => {
    expect(priceOf(poolOf('a', 100, 10_000), poolOf('b', 102, 40_000), poolOf('c', 90, 5_000))).toBe(102);
    expect(rolesOf(poolOf('a', 100, 10_000), poolOf('b', 102, 40_000))).toEqual(['counted', 'chosen']);
  });

  // Prices in cents. docs/concepts/prices.md#an-example.
  test('is as the example of the documentation says, before and during a push', () => {
    const fresh = { ...poolOf('d', 400, timed([5, 2_000_000])), createdAt: NOW - 5 * MINUTE };
    const others = [poolOf('b', 81, 30_000), poolOf('c', 50, 300), fresh];
    const pushed = (minutesAgo: number) => poolOf('a', timed([1_440, 80], [minutesAgo, 120]), 80_000);
    expect(priceOf(poolOf('a', 80, 80_000), ...others)).toBe(80);
    expect(rolesOf(poolOf('a', 80, 80_000), ...others)).toEqual([
      'chosen',
      'counted',
      'too-shallow',
      'too-young',
    ]);
    expect([priceOf(pushed(9), ...others), priceOf(pushed(10), ...others)]).toEqual([80, 120]);
  });

  // Invariant: PRICE-NOT-GUESSED
  test('is none without a pool that holds 500 dollars on each side', () => {
    expect(priceOf()).toBeNull();
    expect(priceOf(poolOf('a', 100, 499))).toBeNull();
    expect(priceOf({ ...poolOf('a', 100, 10_000), tokenDepth: always(499) })).toBeNull();
    expect(priceOf(poolOf('a', 100, 500))).toBe(100);
  });

  test('does not depend on the order of the pools', () => {
    const pools = fc.uniqueArray(
      fc.record({
        pool: fc.string({ minLength: 1, maxLength: 4 }),
        price: fc.integer({ min: 1, max: 5 }),
        depth: fc.integer({ min: 100, max: 2_000 }),
      }),
      { selector: ({ pool }) => pool, minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(pools, fc.integer(), (given, seed) => {
        const candidates = given.map(({ pool, price, depth }) => poolOf(pool, price, depth));
        const shuffled = candidates.toSorted((one, other) => hash(one.pool, seed) - hash(other.pool, seed));
        const chosenOf = (decision: ReturnType<typeof decide>) => ('pool' in decision ? decision.pool : null);
        expect(chosenOf(decide(shuffled))).toBe(chosenOf(decide(candidates)));
      }),
    );
  });

  test('considers the 64 deepest pools', () => {
    const dust = Array.from({ length: 200 }, (_, index) => poolOf(`dust-${index}`, 1, 600));
    const deep = Array.from({ length: 64 }, (_, index) => poolOf(`deep-${index}`, 100, 1_000));
    expect(priceOf(...dust, ...deep)).toBe(100);
    expect(new Set(rolesOf(...dust, ...deep).slice(0, 200))).toEqual(new Set(['not-among-deepest']));
  });
});

describe('an attack', () => {
  const honest = [poolOf('honest-1', 100, 50_000), poolOf('honest-2', 101, 30_000)];

  test('by pools with less than half of the depth leaves the price among the honest ones', () => {
    const attacker = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 500, max: 7_900 })),
      {
        maxLength: 10,
      },
    );
    fc.assert(
      fc.property(attacker, (pools) => {
        const bad = pools.map(([price, depth], index) => poolOf(`bad-${index}`, price, depth));
        const price = priceOf(...honest, ...bad);
        expect(price).toBeGreaterThanOrEqual(100);
        expect(price).toBeLessThanOrEqual(101);
      }),
    );
  });

  test('by a deposit in one block has no weight', () => {
    const deposit = poolOf('bad', 900, timed([1_440, 600], [0, 10_000_000]));
    expect(priceOf(...honest, deposit)).toBe(100);
    const first = poolOf('bad', 900, timed([1_440, 0], [0, 10_000_000]));
    expect(priceOf(first)).toBeNull();
  });

  test('by a fresh pool ten times as deep does not count beside an older pool', () => {
    const fresh = { ...poolOf('bad', timed([5, 900]), timed([5, 800_000])), createdAt: NOW - 5 * MINUTE };
    expect(priceOf(...honest, fresh)).toBe(100);
    expect(rolesOf(...honest, fresh).at(-1)).toBe('too-young');
    // Alone, its price has not held yet.
    expect(decide([fresh])).toMatchObject({ reason: 'unsettled', pool: 'bad', seconds: 300 });
  });

  test('by a push at the end of a block, or over several, is held back for ten minutes', () => {
    for (const minutes of [0, 1, 5, 9]) {
      const pushed = poolOf('a', timed([1_440, 100], [minutes, 300]), 50_000);
      expect(decide([pushed])).toMatchObject({
        rule: 'median',
        price: wholeFraction(100n),
      });
    }
    const real = poolOf('a', timed([1_440, 100], [10, 300]), 50_000);
    expect(decide([real])).toMatchObject({
      rule: 'spot',
      price: wholeFraction(300n),
      heldSeconds: 600,
    });
    const steps = poolOf('a', timed([1_440, 100], [8, 150], [6, 200], [4, 250], [2, 300]), 50_000);
    expect(decide([steps])).toMatchObject({
      rule: 'median',
      price: wholeFraction(100n),
    });
  });

  test('of a drained side leaves no price', () => {
    expect(priceOf({ ...poolOf('a', 100, 50_000), anchorDepth: timed([1_440, 50_000], [0, 10]) })).toBeNull();
  });

  test('never serves a price further than 10 % from the median that has not held', () => {
    const history = fc
      .array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 1_000 })), {
        minLength: 1,
        maxLength: 20,
      })
      .map((steps) => timed([1_440, 100], ...steps.toSorted(([one], [other]) => other - one)));
    fc.assert(
      fc.property(history, (price) => {
        const decision = decided([poolOf('a', price, 50_000)]);
        const served = numberOf(decision.price) / numberOf(decision.median);
        const isNear = served <= 1.1 && served >= 1 / 1.1;
        expect(isNear || decision.heldSeconds >= 600).toBe(true);
      }),
    );
  });
});

describe('a history', () => {
  test('has a median by the seconds that values held', () => {
    expect(timeWeightedMedian(timed([1_440, 5], [14, 9]), NOW, 1_800)).toEqual(wholeFraction(5n));
    expect(timeWeightedMedian(timed([1_440, 5], [16, 9]), NOW, 1_800)).toEqual(wholeFraction(9n));
    expect(timeWeightedMedian(timed([0, 5]), NOW, 1_800)).toEqual(wholeFraction(5n));
    expect(timeWeightedMedian(timed([4, 5], [1, 9]), NOW, 1_800)).toEqual(wholeFraction(5n));
  });

  test('has a median among its values, and equal to the value that held most', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 9 })), {
      maxLength: 10,
    });
    fc.assert(
      fc.property(steps, (given) => {
        const history = timed([60, 5], ...given.toSorted(([one], [other]) => other - one));
        const median = timeWeightedMedian(history, NOW, 1_800);
        expect(history.some(({ value }) => compareFractions(value, median) === 0)).toBe(true);
      }),
    );
  });

  test('holds from when it came near its newest value', () => {
    const limit = { numerator: 11n, denominator: 10n };
    expect(heldSeconds(timed([60, 100], [20, 109]), NOW, limit)).toBe(3_600);
    expect(heldSeconds(timed([60, 100], [20, 111]), NOW, limit)).toBe(1_200);
    expect(heldSeconds(timed([60, 111], [20, 100], [10, 111]), NOW, limit)).toBe(600);
  });
});

function hash(text: string, seed: number): number {
  let value = seed | 0;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return value;
}
