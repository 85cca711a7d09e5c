import fc from 'fast-check';
import { toRlp } from 'viem';
import { describe, expect, test } from 'vitest';
import { accessList, bytes, fieldBytes, integer, UnknownFormError } from '../transactions/transaction-fields.ts';
import { listText, stringText } from './rlp-text.ts';

/** Lengths around which the header grows. */
const LENGTHS = [0, 1, 2, 54, 55, 56, 57, 255, 256, 257, 65_535, 65_536];
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 70 }),
  fc.constantFrom(...LENGTHS).map((length) => new Uint8Array(length).fill(0x7f)),
  fc.integer({ min: 0, max: 255 }).map((byte) => new Uint8Array([byte])),
);
const digitsOf = (one: Uint8Array): string => Buffer.from(one).toString('hex');
const hexOf = (one: Uint8Array) => `0x${digitsOf(one)}` as const;

describe('RLP as text', () => {
  test('is that of viem, for strings and for lists of them, whatever the letter case', () => {
    fc.assert(
      fc.property(fc.array(anyBytes, { maxLength: 6 }), fc.boolean(), (items, isUpper) => {
        const written = items.map((one) => stringText(isUpper ? digitsOf(one).toUpperCase() : digitsOf(one)));
        for (const [index, one] of items.entries())
          expect(`0x${written[index]?.toLowerCase()}`).toBe(toRlp(hexOf(one)));
        expect(`0x${listText(written.join('')).toLowerCase()}`).toBe(toRlp(items.map(hexOf)));
        expect(`0x${listText(listText(written.join(''))).toLowerCase()}`).toBe(toRlp([items.map(hexOf)]));
      }),
    );
  });
});

describe('fields of a transaction', () => {
  test('numbers lose their leading zeros, and zero is nothing', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 256n), fc.integer({ min: 0, max: 4 }), (value, zeros) => {
        const digits = value === 0n ? '' : value.toString(16);
        const whole = digits.length % 2 === 0 ? digits : `0${digits}`;
        expect(`0x${integer(`0x${'0'.repeat(zeros)}${value.toString(16)}`)}`).toBe(toRlp(`0x${whole}`));
      }),
    );
  });

  test('what is no quantity and what are no bytes are refused', () => {
    for (const value of [undefined, null, -5, 2 ** 53, '', '12', '1x12', {}])
      expect(() => integer(value), String(value)).toThrow(UnknownFormError);
    expect([integer('0x'), integer(5)]).toEqual([integer('0x0'), integer('0x5')]);
    for (const value of [undefined, null, 5, '', '0', '0x1', '12', '1x12', [], {}])
      expect(() => bytes(value), String(value)).toThrow(UnknownFormError);
    expect(bytes('0x')).toBe('80');
  });

  test.each(['0xzz', '0x1z', '0x0x12', '0x 1', '0x-1', '0x1é', '0x12345g', `0x${'12'.repeat(60)}g0`])(
    'a character that is no digit, as in %s, is found when all become bytes',
    (value) => {
      const text = listText(integer('0x1') + integer(value) + integer('0x2'));
      expect(() => fieldBytes(text)).toThrow(UnknownFormError);
      expect(() =>
        fieldBytes(accessList([{ address: value.length % 2 === 0 ? value : `${value}0`, storageKeys: [] }])),
      ).toThrow(UnknownFormError);
    },
  );
});
