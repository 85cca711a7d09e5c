import { expect, test } from 'vitest';
import { decimalAmount } from './fraction.ts';

test.each([
  ['77976217893478', 6, '77976217.893478'],
  ['1000000000000000000', 18, '1'],
  ['5', 18, '0.000000000000000005'],
  ['0', 18, '0'],
  ['1500000', 6, '1.5'],
  ['100', 2, '1'],
  ['100', 0, '100'],
  [
    (2n ** 256n - 1n).toString(),
    1,
    '11579208923731619542357098500868790785326998466564056403945758400791312963993.5',
  ],
])('%s base units with %d decimals are %s', (units, decimals, amount) => {
  expect(decimalAmount(units, decimals)).toBe(amount);
});
