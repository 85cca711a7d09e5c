import fc from 'fast-check';
import { encodeAbiParameters, stringToHex } from 'viem';
import { describe, expect, test } from 'vitest';
import { cleanText, decodeDecimals, decodeFlag, decodeText } from './token-metadata.ts';

const abiString = (text: string): string => encodeAbiParameters([{ type: 'string' }], [text]);
const abiBytes = (hex: `0x${string}`): string => encodeAbiParameters([{ type: 'bytes' }], [hex]);

describe('decodeText', () => {
  test('gives back what an independent encoder wrote, as string and as bytes32', () => {
    const clean = fc
      .string({ minLength: 1, maxLength: 60, unit: fc.constantFrom(...'abcXYZ 019$.-_äß馬🐎') })
      .filter((text) => cleanText(text, 256) === text);
    fc.assert(
      fc.property(clean, (text) => {
        expect(decodeText(abiString(text), 256)).toBe(text);
      }),
    );
    fc.assert(
      fc.property(clean, (text) => {
        fc.pre(Buffer.byteLength(text) <= 32);
        expect(decodeText(stringToHex(text, { size: 32 }), 256)).toBe(text);
      }),
    );
  });

  test.each([
    ['nothing', '0x'],
    ['an empty string', abiString('')],
    ['only controls', abiString('\u0000\u0007\u202e')],
    ['only white space', abiString(' \t\n ')],
    ['an offset beyond the data', `0x${'f'.repeat(64)}${'0'.repeat(64)}`],
    ['an offset into nothing', `0x${'20'.padStart(64, '0')}`],
    ['half a word', '0x1234'],
    ['bytes that are no UTF-8', abiBytes('0xff80fe')],
  ])('gives null for %s', (_, data) => {
    expect(decodeText(data, 64)).toBeNull();
  });

  test('keeps what is text among what is not', () => {
    expect(decodeText(abiBytes('0x41ff42'), 64)).toBe('AB');
    expect(decodeText(abiString('Nul\u0000 \tTo\nken\u001b[31m\u202e'), 64)).toBe('Nul To ken[31m');
  });

  test('caps length by characters, never inside one, and never reads on', () => {
    expect(decodeText(abiString('🐎'.repeat(100_000)), 64)).toBe('🐎'.repeat(64));
    expect(decodeText(`0x${'20'.padStart(64, '0')}${'f'.repeat(64)}${'41'.repeat(40)}`, 64)).toBe('A'.repeat(40));
  });

  test('whatever the bytes: null, or text that Postgres and JSON take', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = decodeText(`0x${Buffer.from(bytes).toString('hex')}`, 64);
        if (text === null) return;
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toMatch(/[\p{Cc}\uFFFD]/u);
        expect([...text].length).toBeLessThanOrEqual(64);
        expect(text).toBe(text.trim());
      }),
      { numRuns: 1_000 },
    );
  });
});

test('decodeDecimals gives a uint8 and nothing else', () => {
  const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;
  expect([0n, 6n, 18n, 255n, 256n, 2n ** 256n - 1n].map((value) => decodeDecimals(word(value)))).toEqual([
    0,
    6,
    18,
    255,
    null,
    null,
  ]);
  expect(['0x', '0x12', word(18n).slice(0, -2)].map(decodeDecimals)).toEqual([null, null, null]);
});

describe('what contracts behind old proxies return beyond their ABI changes nothing', () => {
  const padded = (data: string): string[] => [
    data.padEnd(2 + 2 * 96, '0'),
    `${data}${'f'.repeat(64)}`,
    `${data}00`,
  ];
  const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;

  test('of decimals and flags', () => {
    expect(padded(word(8n)).map(decodeDecimals)).toEqual([8, 8, 8]);
    expect(padded(word(1n)).map(decodeFlag)).toEqual([true, true, true]);
    expect(padded(word(0n)).map(decodeFlag)).toEqual([false, false, false]);
  });

  test('of texts and texts of 32 bytes', () => {
    for (const data of [abiString('Proxied'), stringToHex('Proxied', { size: 32 })])
      expect(padded(data).map((one) => decodeText(one, 64))).toEqual(['Proxied', 'Proxied', 'Proxied']);
  });
});

test('decodeFlag is true for the word 1 alone', () => {
  expect([`0x${'1'.padStart(64, '0')}`, `0x${'2'.padStart(64, '0')}`, '0x', '0x01'].map(decodeFlag)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
