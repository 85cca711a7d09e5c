import type { EtherPool } from '@chainstead/chains';
import { addressOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dollarsOf, priceOfAnswer, priceOfPool } from './ether-price.ts';

const ETHER = 10n ** 18n;
const pool = (etherIs: EtherPool['etherIs'], dollarDecimals: number): EtherPool => ({
  address: addressOf(1),
  protocol: 'uniswap-v3',
  etherIs,
  dollarDecimals,
});

describe('an answer', () => {
  test('is the price in units of its decimals', () => {
    expect(priceOfAnswer('200012345678', 8)).toEqual({ numerator: 200_012_345_678n, denominator: 100_000_000n });
    expect(priceOfAnswer('5', 0)).toEqual({ numerator: 5n, denominator: 1n });
  });

  test('of zero or below is no price', () => {
    expect([priceOfAnswer('0', 8), priceOfAnswer('-1', 8)]).toEqual([null, null]);
  });
});

describe('a pool', () => {
  test('says the same from either side', () => {
    // 2,500 dollars: 2,500e6 base units for 1e18, so token1 per token0 is 2.5e-9 or its inverse, 4e8.
    const inverse = 20_000n * 2n ** 96n;
    expect(dollarsOf(ETHER.toString(), priceOfPool(inverse.toString(), pool('token1', 6)))).toBe('2500.00');
    const direct = 50n * 2n ** 96n;
    expect(dollarsOf(ETHER.toString(), priceOfPool(direct.toString(), pool('token0', 18)))).toBe('2500.00');
  });
});

describe('dollars', () => {
  const price = { numerator: 200_000_000_000n, denominator: 100_000_000n };

  test.each([
    ['0', '0.00'],
    ['1', '0.00'],
    ['2499999999999', '0.00'],
    ['2500000000000', '0.01'],
    ['7300000000000000', '14.60'],
    [(ETHER * 10n ** 9n).toString(), '2000000000000.00'],
  ])('of %s wei at 2,000 are %s', (wei, dollars) => {
    expect(dollarsOf(wei, price)).toBe(dollars);
  });

  test('are exact to half a cent, whatever the amount', () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 2n ** 256n - 1n),
        fc.bigInt(1n, 2n ** 200n),
        fc.bigInt(1n, 2n ** 200n),
        (wei, numerator, denominator) => {
          const dollars = dollarsOf(wei.toString(), { numerator, denominator });
          expect(dollars).toMatch(/^\d+\.\d\d$/);
          const cents = BigInt(dollars.replace('.', ''));
          const twiceOff = 2n * (cents * ETHER * denominator - wei * numerator * 100n);
          expect(twiceOff <= ETHER * denominator && twiceOff > -ETHER * denominator).toBe(true);
        },
      ),
    );
  });
});
