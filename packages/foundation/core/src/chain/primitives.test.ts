import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  InvalidPrimitiveError,
  isAddress,
  isLowerHex,
  parseAddress,
  parseBigQuantity,
  parseChainId,
  parseHash,
  parseQuantity,
  toQuantity,
  ZERO_ADDRESS,
  ZERO_HASH,
} from './primitives.ts';

const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: length, maxLength: length });

describe('addresses and hashes', () => {
  it('are lower-cased, the prefix too', () => {
    fc.assert(
      fc.property(digits(40), digits(64), (address, hash) => {
        expect(parseAddress(`0X${address}`)).toBe(`0x${address.toLowerCase()}`);
        expect(parseHash(`0x${hash}`)).toBe(`0x${hash.toLowerCase()}`);
        expect(isAddress(`0x${address}`)).toBe(true);
      }),
    );
  });

  it('of any other length, alphabet or type are refused', () => {
    const others = [
      '',
      '0x',
      `0x${'1'.repeat(39)}`,
      `0x${'1'.repeat(41)}`,
      `0x${'g'.repeat(40)}`,
      '1'.repeat(40),
      ` ${ZERO_ADDRESS}`,
      `${ZERO_ADDRESS}\n`,
      null,
      undefined,
      0,
      {},
      [ZERO_ADDRESS],
    ];
    for (const other of others) {
      expect(isAddress(other)).toBe(false);
      expect(() => parseAddress(other)).toThrow(InvalidPrimitiveError);
      expect(() => parseHash(other)).toThrow(InvalidPrimitiveError);
    }
    expect(() => parseHash(ZERO_ADDRESS)).toThrow(/is not a valid hash/);
    expect(() => parseAddress(ZERO_HASH)).toThrow(/is not a valid address/);
  });
});

describe('lower-case hexadecimal text', () => {
  it('is told from any other, character by character', () => {
    const almostDigits = fc.string({
      unit: fc.constantFrom(...'0123456789abcdef/:`gAF', 'İ', '\ud800'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.constantFrom('0x', '0X', '1x', ''), almostDigits, fc.nat(14), (prefix, text, length) => {
        const whole = prefix + text;
        expect(isLowerHex(whole, whole.length)).toBe(/^0x[0-9a-f]*$/.test(whole));
        expect(isLowerHex(whole, length)).toBe(/^0x[0-9a-f]*$/.test(whole) && whole.length === length);
      }),
    );
  });
});

describe('quantities', () => {
  it('round-trip', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.bigInt({ min: 0n, max: 2n ** 256n }), (small, big) => {
        expect(parseQuantity(toQuantity(small))).toBe(small);
        expect(parseBigQuantity(toQuantity(big))).toBe(big);
      }),
    );
  });

  it('beyond the safe integers are refused as numbers and kept as bigints', () => {
    expect(parseQuantity('0x1fffffffffffff')).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => parseQuantity('0x20000000000000')).toThrow(InvalidPrimitiveError);
    expect(parseBigQuantity('0x20000000000000')).toBe(2n ** 53n);
  });

  it.each([
    ['zero without a digit', '0x', 0],
    ['zero without a digit in upper case', '0X', 0],
    ['with leading zeros', '0x00ff', 255],
    ['in upper case', '0XFF', 255],
    ['as a number of JSON', 255, 255],
  ])('%s are read as the one value that they can be', (_what, given, value) => {
    expect(parseQuantity(given)).toBe(value);
    expect(parseBigQuantity(given)).toBe(BigInt(value));
  });

  it('in decimal, negative, rounded or of another type are refused', () => {
    for (const other of [
      '',
      '12',
      '-0x1',
      '0x-1',
      '0x1 ',
      '1e3',
      'latest',
      -1,
      1.5,
      2 ** 53,
      Number.NaN,
      [],
      null,
      undefined,
    ]) {
      expect(() => parseQuantity(other)).toThrow(InvalidPrimitiveError);
      expect(() => parseBigQuantity(other)).toThrow(InvalidPrimitiveError);
    }
  });
});

describe('chain ids', () => {
  it('are positive safe integers', () => {
    expect(parseChainId(11_297_108_109)).toBe(11_297_108_109);
    for (const other of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', null])
      expect(() => parseChainId(other)).toThrow(/is not a valid chain id/);
  });
});
