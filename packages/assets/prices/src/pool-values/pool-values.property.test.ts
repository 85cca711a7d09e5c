import { createChainRegistry } from '@chainstead/chains';
import { compareFractions, type Fraction, parseAddress, wholeFraction } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ValuedPool, valuesOfPool } from './read-pool-values.ts';

const eth = createChainRegistry().get('eth');
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const CATS = parseAddress(`0x${'11'.repeat(20)}`);
const ANCHORS = new Map([[WETH, wholeFraction(2_000n)]]);
const facts = { pool: addressOf(0x9a1), factory: null, isStable: null, tickSpacing: null } as const;
/** The same pool with its tokens in either order: Liquidity Book sorts none. */
const POOL: ValuedPool = { ...facts, token0: CATS, token1: WETH, decimals: [6, 18] };
const TURNED: ValuedPool = { ...facts, token0: WETH, token1: CATS, decimals: [18, 6] };

const amount = fc.bigInt(1n, 10n ** 30n);
const areEqual = (one: Fraction | null, other: Fraction | null): boolean =>
  one === null || other === null ? one === other : compareFractions(one, other) === 0;

test('values do not depend on the order of the tokens', () => {
  fc.assert(
    fc.property(amount, amount, amount, amount, (reserve0, reserve1, held0, held1) => {
      const balances = [wholeFraction(held0), wholeFraction(held1)] as const;
      const one = valuesOfPool(eth, POOL, { of: 'reserves', reserve0, reserve1 }, balances, ANCHORS);
      const turned = { of: 'reserves', reserve0: reserve1, reserve1: reserve0 } as const;
      const other = valuesOfPool(eth, TURNED, turned, [balances[1], balances[0]], ANCHORS);
      for (const key of ['baseQuotePrice', 'liquidity', 'skew'] as const)
        expect(areEqual(one[key], other[key])).toBe(true);
      for (const side of [0, 1] as const) {
        expect(areEqual(one.usd[side], other.usd[1 - side] ?? null)).toBe(true);
        expect(areEqual(one.sides[side], other.sides[1 - side] ?? null)).toBe(true);
      }
    }),
  );
});

test('the skew is from 0 to 1, and reserves at their own price are balanced', () => {
  fc.assert(
    fc.property(amount, amount, amount, amount, (reserve0, reserve1, held0, held1) => {
      const state = { of: 'reserves', reserve0, reserve1 } as const;
      const { skew } = valuesOfPool(eth, POOL, state, [wholeFraction(held0), wholeFraction(held1)], ANCHORS);
      if (skew === null) throw new TypeError('Both balances are known');
      expect(compareFractions(skew, wholeFraction(0n))).toBeGreaterThan(0);
      expect(compareFractions(skew, wholeFraction(1n))).toBeLessThanOrEqual(0);
      const own = valuesOfPool(eth, POOL, state, [wholeFraction(reserve0), wholeFraction(reserve1)], ANCHORS);
      expect(areEqual(own.skew, wholeFraction(1n))).toBe(true);
      // Twice the ether side.
      const ether = { numerator: 4_000n * reserve1, denominator: 10n ** 18n };
      expect(areEqual(own.liquidity, ether)).toBe(true);
    }),
  );
});

test.each([
  ['nothing on either side', 0n, 0n, null],
  ['ether only', 0n, 10n ** 18n, wholeFraction(0n)],
])('an empty pool has no price: %s', (_, reserve0, reserve1, skew) => {
  const state = { of: 'reserves', reserve0, reserve1 } as const;
  const found = valuesOfPool(eth, POOL, state, [wholeFraction(reserve0), wholeFraction(reserve1)], ANCHORS);
  expect(found).toMatchObject({ baseQuotePrice: null, usd: [null, wholeFraction(2_000n)] });
  expect(areEqual(found.skew, skew)).toBe(true);
  expect(areEqual(found.liquidity, wholeFraction(0n))).toBe(true);
});
