import { expect, test } from 'vitest';
import { showAllowance } from './show-allowance.ts';

test.each([
  [2n ** 256n - 1n, 6, 'unlimited'],
  [2n ** 255n, null, 'unlimited'],
  [2n ** 96n - 1n, 18, 'unlimited'],
  [2n ** 96n, 0, '79228162514264337593543950336'],
  [123n, 6, '0.000123'],
  [123n, null, null],
])('%d of %s decimals is shown as %s', (value, decimals, shown) => {
  expect(showAllowance(value, decimals)).toBe(shown);
});
