import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { cutName, distinctNames, sqlName } from './event-table.ts';

describe('sqlName', () => {
  it.each([
    ['Deposit', 'deposit'],
    ['amountIn', 'amount_in'],
    ['sqrtPriceX96', 'sqrt_price_x96'],
    ['tokenURI', 'token_uri'],
    ['ERC20Transfer', 'erc20_transfer'],
    ['_value', 'value'],
    ['__proto__', 'proto'],
    ['$', ''],
    ['_', ''],
    ['from', 'from_'],
    ['To', 'to_'],
    ['user', 'user_'],
    ['_1', 'n1'],
    ['a$b', 'a_b'],
  ])('%s becomes %s', (given, wanted) => {
    expect(sqlName(given, 59)).toBe(wanted);
  });

  test('any identifier becomes a plain name of bounded length, or none', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z_$][\w$]{0,255}$/),
        fc.integer({ min: 12, max: 63 }),
        (given, bytesMax) => {
          const name = sqlName(given, bytesMax);
          expect(name).toMatch(/^$|^[a-z][a-z0-9_]*$/);
          expect(name.length).toBeLessThanOrEqual(bytesMax);
        },
      ),
    );
  });
});

test('long names with the same start stay different', () => {
  const [one, other] = [`${'a'.repeat(70)}1`, `${'a'.repeat(70)}2`];
  expect(cutName(one, 63)).toHaveLength(63);
  expect(cutName(one, 63)).not.toBe(cutName(other, 63));
  expect(cutName('short', 63)).toBe('short');
});

describe('distinctNames', () => {
  it('numbers repeated names, and leaves the first ones alone', () => {
    expect(distinctNames(['a', 'a', 'a_2', 'b', 'a'], ['b'])).toEqual(['a', 'a_3', 'a_2', 'b_2', 'a_4']);
  });

  it('gives every position a name of its own', () => {
    const name = fc.constantFrom('a', 'a_2', 'a_2_2', 'b', '');
    fc.assert(
      fc.property(fc.array(name), fc.array(name), (names, taken) => {
        const found = distinctNames(names, taken);
        expect(new Set([...found, ...taken]).size).toBe(found.length + new Set(taken).size);
      }),
    );
  });
});
