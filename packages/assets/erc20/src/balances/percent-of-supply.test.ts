import fc from 'fast-check';
import { expect, test } from 'vitest';
import { percentOfSupply } from './balance-questions.ts';

test.each([
  [10_930_056_600_000_000_000_000_000n, 10n ** 27n, 1.09300566],
  [102_847n, 77_976_217_893_478n, 1.3189534293712163e-7],
  [1n, 3n, 100 / 3],
  [7n, 7n, 100],
  [0n, 7n, 0],
])('%d of %d is %d percent', (balance, supply, percent) => {
  expect(percentOfSupply(balance, supply)).toBe(percent);
});

test('of no supply, or of less than the balance, there is no percentage', () => {
  expect(percentOfSupply(0n, 0n)).toBeNull();
  expect(percentOfSupply(8n, 7n)).toBeNull();
});

test('of any part of any supply it is the double that is nearest to a hundred digits of it', () => {
  const amount = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
  const small = fc.bigInt({ min: 1n, max: 1_000_000n });
  fc.assert(
    fc.property(fc.oneof(amount, small), fc.oneof(amount, small), (a, b) => {
      const [balance, supply] = a < b ? [a, b] : [b, a];
      const exact = `${(100n * balance * 10n ** 178n) / supply}e-178`;
      expect(percentOfSupply(balance, supply)).toBe(Number(exact));
    }),
    { numRuns: 2_000 },
  );
});

test('any part of any supply is above 0 and at most 100 percent, and the larger part the larger', () => {
  const amount = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
  fc.assert(
    fc.property(amount, amount, amount, (a, b, c) => {
      const [less, more, supply] = [a, b, c].toSorted((x, y) => (x < y ? -1 : x > y ? 1 : 0));
      const [small, large] = [
        percentOfSupply(less ?? 0n, supply ?? 0n),
        percentOfSupply(more ?? 0n, supply ?? 0n),
      ];
      expect(small).toBeGreaterThan(0);
      expect(large).toBeGreaterThanOrEqual(small ?? 0);
      expect(large).toBeLessThanOrEqual(100);
    }),
  );
});

test('it is the nearest double, as one reads it from its decimal digits', () => {
  const amount = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
  fc.assert(
    fc.property(amount, amount, (a, b) => {
      const [balance, supply] = a < b ? [a, b] : [b, a];
      const digits = (100n * balance * 10n ** 150n) / supply;
      expect(percentOfSupply(balance, supply)).toBe(Number(`${digits}e-150`));
    }),
  );
});
