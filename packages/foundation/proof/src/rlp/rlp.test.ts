import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodedLength, encodeList, encodeString, integerBytes } from './rlp.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('RLP', () => {
  it('encodes the examples of the yellow paper and the wiki', () => {
    expect(hex(encodeString(Buffer.from('dog')))).toBe('83646f67');
    expect(hex(encodeList([encodeString(Buffer.from('cat')), encodeString(Buffer.from('dog'))]))).toBe(
      'c88363617483646f67',
    );
    expect(hex(encodeString(Buffer.alloc(0)))).toBe('80');
    expect(hex(encodeList([]))).toBe('c0');
    expect(hex(encodeString(integerBytes(15)))).toBe('0f');
    expect(hex(encodeString(integerBytes(1024n)))).toBe('820400');
    expect(hex(encodeString(Buffer.from('Lorem ipsum dolor sit amet, consectetur adipisicing elit')))).toMatch(
      /^b8384c6f/,
    );
  });

  it('has a longer header at each power of 256', () => {
    for (const [length, header] of [
      [55, 'b7'],
      [56, 'b838'],
      [255, 'b8ff'],
      [256, 'b90100'],
      [65_535, 'b9ffff'],
      [65_536, 'ba010000'],
      [16_777_216, 'bb01000000'],
    ] as const) {
      const encoded = encodeString(Buffer.alloc(length));
      expect(hex(encoded.subarray(0, header.length / 2))).toBe(header);
      expect(encoded.length).toBe(encodedLength(length));
    }
  });

  it('writes integers without leading zeros', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 256n }), (value) => {
        const bytes = integerBytes(value);
        expect(bytes[0]).not.toBe(0);
        expect(BigInt(`0x${hex(bytes)}`)).toBe(value);
      }),
    );
    expect(integerBytes(0)).toHaveLength(0);
  });
});
