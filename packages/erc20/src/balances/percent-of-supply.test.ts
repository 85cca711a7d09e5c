import fc from 'fast-check';
import { expect, test } from 'vitest';
import { percentOfSupply } from './percent-of-supply.ts';

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

test('any part of any supply is above 0 and at most 100 percent, and the larger part the larger', () => {
  const amount = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
  fc.assert(
    fc.property(amount, amount, amount, (a, b, c) => {
      const [less, more, supply] = [a, b, c].toSorted((x, y) => (x < y ? -1 : x > y ? 1 : 0));
      const [small, large] = [percentOfSupply(less ?? 0n, supply ?? 0n), percentOfSupply(more ?? 0n, supply ?? 0n)];
      expect(small).toBeGreaterThan(0);
      expect(large).toBeGreaterThanOrEqual(small ?? 0);
      expect(large).toBeLessThanOrEqual(100);
    }),
  );
});
