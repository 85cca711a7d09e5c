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

  it('gives back what was encoded', () => {
    const tree = fc.letrec<{ item: Item }>((tie) => ({
      item: fc.oneof({ maxDepth: 4 }, fc.uint8Array({ maxLength: 300 }), fc.array(tie('item'), { maxLength: 6 })),
    })).item;
    fc.assert(
      fc.property(tree, (item) => {
        const encoded = encode(item);
        expect(decode(encoded)).toEqual({ item: plain(item), rest: 0 });
      }),
    );
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

type Item = Uint8Array | Item[];
type Plain = string | Plain[];

const encode = (item: Item): Buffer => (Array.isArray(item) ? encodeList(item.map(encode)) : encodeString(item));
const plain = (item: Item): Plain => (Array.isArray(item) ? item.map(plain) : hex(item));

/** A decoder by the definition, for these tests only. */
function decode(bytes: Buffer): { item: Plain; rest: number } {
  const first = bytes.readUInt8(0);
  if (first < 0x80) return { item: hex(bytes.subarray(0, 1)), rest: bytes.length - 1 };
  const isList = first >= 0xc0;
  const short = first - (isList ? 0xc0 : 0x80);
  const lengthBytes = Math.max(0, short - 55);
  const length = lengthBytes === 0 ? short : bytes.readUIntBE(1, lengthBytes);
  const payload = bytes.subarray(1 + lengthBytes, 1 + lengthBytes + length);
  const rest = bytes.length - 1 - lengthBytes - length;
  if (!isList) return { item: hex(payload), rest };
  const items: Plain[] = [];
  for (let at = 0; at < payload.length; ) {
    const one = decode(payload.subarray(at));
    items.push(one.item);
    at = payload.length - one.rest;
  }
  return { item: items, rest };
}
