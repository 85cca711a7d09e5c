import type { Fraction } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { priceOf } from './pool-price.ts';

const PLAIN = { isStable: null, tickSpacing: null, decimals: null };
const reserves = (reserve0: bigint, reserve1: bigint) => ({ of: 'reserves', reserve0, reserve1 }) as const;

/** To 12 digits. */
function numberOf(price: Fraction | null): number {
  if (price === null) return Number.NaN;
  const { numerator, denominator } = price;
  return Number((numerator * 10n ** 40n) / denominator) / 1e40;
}

describe('reserves', () => {
  test('their ratio is the price', () => {
    expect(priceOf(reserves(4n, 6n), PLAIN)).toEqual({ numerator: 6n, denominator: 4n });
    expect(priceOf(reserves(0n, 6n), PLAIN)).toBeNull();
    expect(priceOf(reserves(4n, 0n), PLAIN)).toBeNull();
  });

  test('of a stable pair they have the slope of its curve, not their ratio', () => {
    const stable = { isStable: true, tickSpacing: null, decimals: [18, 18] } as const;
    // dexes.md, example 15.
    const state = reserves(324_603n * 10n ** 18n, 179_935n * 10n ** 18n);
    expect(numberOf(priceOf(state, stable))).toBeCloseTo(0.95394, 5);
    expect(priceOf(state, { ...stable, decimals: null })).toBeNull();
  });

  test('a small trade along the stable curve has the price, whatever the decimals', () => {
    const decimals = fc.integer({ min: 0, max: 24 });
    const whole = fc.integer({ min: 1_000, max: 1_000_000 });
    fc.assert(
      fc.property(decimals, decimals, whole, whole, (decimals0, decimals1, x, y) => {
        const [unit0, unit1] = [10n ** BigInt(decimals0), 10n ** BigInt(decimals1)];
        const price = priceOf(reserves(BigInt(x) * unit0, BigInt(y) * unit1), {
          isStable: true,
          tickSpacing: null,
          decimals: [decimals0, decimals1],
        });
        if (price === null) throw new Error('The pair has reserves');
        const { numerator, denominator } = price;
        const perWhole = Number((numerator * unit0 * 10n ** 20n) / (denominator * unit1)) / 1e20;
        const product = (a: number, b: number): number => a ** 3 * b + a * b ** 3;
        const step = x * 1e-6;
        // What must leave on the other side so that the product stays, to first order.
        const slope = (product(x + step, y) - product(x, y)) / step;
        const other = (product(x, y + step) - product(x, y)) / step;
        expect(perWhole / (slope / other)).toBeCloseTo(1, 3);
      }),
    );
  });
});

describe('a square root', () => {
  test('is squared exactly', () => {
    const state = { of: 'price', sqrtPriceX96: 3n << 96n, liquidity: 0n, tick: 21_972 } as const;
    expect(numberOf(priceOf(state, PLAIN))).toBe(9);
    expect(priceOf({ ...state, sqrtPriceX96: 0n }, PLAIN)).toBeNull();
  });

  test('of a recorded swap has the price of its note (dexes.md, example 6)', () => {
    const sqrtPriceX96 = 1884125993488638308530312353910123n;
    const price = numberOf(priceOf({ of: 'price', sqrtPriceX96, liquidity: 1n, tick: 201_542 }, PLAIN));
    // USDC has 6 decimals, WETH 18: WETH per USDC in base units.
    expect(1e12 / price).toBeCloseTo(1_768.23, 2);
  });
});

describe('a bin', () => {
  const of = (activeId: number, tickSpacing: number) =>
    numberOf(priceOf({ of: 'bin', activeId }, { ...PLAIN, tickSpacing }));
  const middle = 2 ** 23;

  test('is a power of its step', () => {
    expect(of(middle, 25)).toBe(1);
    expect(of(middle + 1, 25)).toBeCloseTo(1.0025, 12);
    expect(of(middle - 1, 25)).toBeCloseTo(1 / 1.0025, 12);
    expect(of(middle + 3_000, 10) / 1.001 ** 3_000).toBeCloseTo(1, 9);
    expect(of(middle - 3_000, 10) / 1.001 ** -3_000).toBeCloseTo(1, 9);
  });

  test('has no price without its step, and none beyond the range of the contract', () => {
    expect(priceOf({ of: 'bin', activeId: middle }, PLAIN)).toBeNull();
    expect(priceOf({ of: 'bin', activeId: 0 }, { ...PLAIN, tickSpacing: 1 })).toBeNull();
    expect(priceOf({ of: 'bin', activeId: middle - 1_000_000 }, { ...PLAIN, tickSpacing: 100 })).toBeNull();
  });
});
