import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RlpItem, readRlpItem, readRlpList } from './read-rlp.ts';
import { encodeList, encodeString } from './rlp.ts';

type Tree = Uint8Array | Tree[];

const tree = fc.letrec<{ item: Tree }>((tie) => ({
  item: fc.oneof({ maxDepth: 3 }, fc.uint8Array({ maxLength: 300 }), fc.array(tie('item'), { maxLength: 6 })),
})).item;
const encode = (item: Tree): Buffer => (Array.isArray(item) ? encodeList(item.map(encode)) : encodeString(item));
const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** Returns the parsed items, including nested lists. */
function shape(item: RlpItem): unknown {
  if (!item.isList) return item.payload.toString('hex');
  return readRlpList(item.encoded)?.map(shape);
}

const plain = (item: Tree): unknown =>
  Array.isArray(item) ? item.map(plain) : Buffer.from(item).toString('hex');

describe('reading RLP', () => {
  it('gives back what was encoded', () => {
    fc.assert(
      fc.property(tree, (item) => {
        const read = readRlpItem(encode(item));
        expect(read === null ? null : shape(read)).toEqual(plain(item));
      }),
    );
  });

  it('refuses anything behind the item, and an item that ends early', () => {
    fc.assert(
      fc.property(tree, fc.uint8Array({ minLength: 1, maxLength: 3 }), (item, more) => {
        const encoded = encode(item);
        expect(readRlpItem(Buffer.concat([encoded, more]))).toBeNull();
        expect(readRlpItem(encoded.subarray(0, -1))).toBeNull();
      }),
    );
  });

  it.each([
    ['a byte that stands for itself, with a header', '8105'],
    ['a long header of a short string', 'b80161'],
    ['a long header of a short list', 'f80161'],
    ['a length with a leading zero', `b90038${'61'.repeat(56)}`],
    ['a length of four bytes', `bb00000038${'61'.repeat(56)}`],
    ['a length that is cut off', 'b9'],
    ['nothing', ''],
  ])('refuses %s', (_, hex) => {
    expect(readRlpItem(bytes(hex))).toBeNull();
  });

  it('refuses more items than any block has, before it holds them', () => {
    const listOf = (items: number): Buffer => encodeList(Array.from({ length: items }, () => Uint8Array.of(1)));
    expect(readRlpList(listOf(100_000))).toHaveLength(100_000);
    expect(readRlpList(listOf(100_001))).toBeNull();
  });

  it('reads no string as a list, nor a list whose items end beyond it', () => {
    expect(readRlpList(bytes('83646f67'))).toBeNull();
    expect(readRlpList(bytes('c283646f67'))).toBeNull();
    expect(readRlpList(bytes('c28361'))).toBeNull();
    expect(readRlpList(bytes('c0'))).toEqual([]);
  });
});
