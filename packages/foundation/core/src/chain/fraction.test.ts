import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addFractions,
  compareFractions,
  decimalFraction,
  type Fraction,
  multiplyFractions,
  smallerFraction,
  wholeFraction,
} from './fraction.ts';

const fraction = fc.record<Fraction>({
  numerator: fc.bigInt(-1_000n, 1_000n),
  denominator: fc.bigInt(1n, 1_000n),
});
const areEqual = (one: Fraction, other: Fraction): boolean => compareFractions(one, other) === 0;

test('fractions obey the laws of numbers', () => {
  fc.assert(
    fc.property(fraction, fraction, fraction, (a, b, c) => {
      expect(areEqual(addFractions(a, b), addFractions(b, a))).toBe(true);
      expect(
        areEqual(
          multiplyFractions(a, addFractions(b, c)),
          addFractions(multiplyFractions(a, b), multiplyFractions(a, c)),
        ),
      ).toBe(true);
      expect(Math.sign(compareFractions(a, b))).toBe(-Math.sign(compareFractions(b, a)) + 0);
      expect(compareFractions(smallerFraction(a, b), b)).toBeLessThanOrEqual(0);
      // Adding a number changes no order.
      expect(compareFractions(addFractions(a, c), addFractions(b, c))).toBe(compareFractions(a, b));
    }),
  );
});

test('the same number has several fractions', () => {
  expect(areEqual({ numerator: 2n, denominator: 4n }, { numerator: 1n, denominator: 2n })).toBe(true);
  expect(areEqual(wholeFraction(3n), { numerator: 9n, denominator: 3n })).toBe(true);
});

test.each([
  [1n, 3n, 17, '0.33333333333333333'],
  [2n, 3n, 3, '0.667'],
  [999_999n, 1_000n, 3, '1000'],
  [10n ** 30n, 1n, 17, `1${'0'.repeat(30)}`],
  [123_456n, 1n, 3, '123000'],
  [1n, 10n ** 30n, 17, `0.${'0'.repeat(29)}1`],
  [5n, 2n, 17, '2.5'],
  [0n, 7n, 17, '0'],
])('%d / %d with %d digits is %s', (numerator, denominator, significant, text) => {
  expect(decimalFraction({ numerator, denominator }, significant)).toBe(text);
});

test('a decimal of 17 digits is within half a unit of the last one', () => {
  const positive = fc.record({ numerator: fc.bigInt(1n, 10n ** 40n), denominator: fc.bigInt(1n, 10n ** 40n) });
  fc.assert(
    fc.property(positive, (one) => {
      const [whole = '', places = ''] = decimalFraction(one, 17).split('.');
      const shown = { numerator: BigInt(whole + places), denominator: 10n ** BigInt(places.length) };
      expect((whole + places).replace(/^0+/, '').replace(/0+$/, '').length).toBeLessThanOrEqual(17);
      const error = shown.numerator * one.denominator - one.numerator * shown.denominator;
      const off = error < 0n ? -error : error;
      expect(2n * off * 10n ** 16n <= one.numerator * shown.denominator).toBe(true);
    }),
  );
});
