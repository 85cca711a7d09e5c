import { keccak256, keccak256Hex } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeList, encodeString, integerBytes } from '../rlp/rlp.ts';
import { EMPTY_TRIE_ROOT, orderedTrieRoot } from './ordered-trie.ts';

describe('orderedTrieRoot', () => {
  it('is the known constant for no values', () => {
    expect(orderedTrieRoot([])).toBe(EMPTY_TRIE_ROOT);
    expect(orderedTrieRoot([])).toBe(keccak256Hex(Buffer.of(0x80)));
  });

  it('equals the definition of the yellow paper, for any count and size of values', () => {
    const values = fc.array(fc.uint8Array({ minLength: 1, maxLength: 80 }), { maxLength: 40 });
    fc.assert(
      fc.property(values, (some) => {
        expect(orderedTrieRoot(some)).toBe(rootByDefinition(some));
      }),
    );
  });

  it('equals it where the key grows: around 128, 256 and 65,536 values', () => {
    for (const count of [1, 2, 15, 16, 17, 127, 128, 129, 255, 256, 257, 600])
      expect(orderedTrieRoot(counted(count)), `${count} values`).toBe(rootByDefinition(counted(count)));
    expect(orderedTrieRoot(counted(65_540))).toBe(rootByDefinition(counted(65_540)));
  });

  it('changes with every single value and with their order', () => {
    const size = fc.integer({ min: 2, max: 300 });
    fc.assert(
      fc.property(size, fc.nat(), (count, seed) => {
        const values = counted(count);
        const at = seed % (count - 1);
        const swapped = values
          .with(at, values[at + 1] ?? Buffer.alloc(1))
          .with(at + 1, values[at] ?? Buffer.alloc(1));
        expect(orderedTrieRoot(swapped)).not.toBe(orderedTrieRoot(values));
        expect(orderedTrieRoot(values.toSpliced(at, 1))).not.toBe(orderedTrieRoot(values));
      }),
      { numRuns: 30 },
    );
  });
});

/** Distinct values, some shorter and some longer than a hash. */
function counted(count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => Buffer.from(`${index}:`.padEnd((index % 45) + 3, 'x')));
}

type Pair = readonly [path: string, value: Uint8Array];

/** Implements c(J, i) of the yellow paper's appendix D, with paths as strings of hexadecimal digits. */
function rootByDefinition(values: readonly Uint8Array[]): string {
  if (values.length === 0) return keccak256Hex(encodeString(Buffer.alloc(0)));
  const pairs = values.map((value, index): Pair => [encodeString(integerBytes(index)).toString('hex'), value]);
  return keccak256Hex(nodeByDefinition(pairs, 0));
}

function nodeByDefinition(pairs: readonly Pair[], depth: number): Buffer {
  const [first] = pairs;
  if (first === undefined) return encodeString(Buffer.alloc(0));
  if (pairs.length === 1)
    return encodeList([encodeString(hexPrefix(first[0].slice(depth), true)), encodeString(first[1])]);
  let shared = depth;
  while (pairs.every(([path]) => path[shared] === first[0][shared])) shared++;
  if (shared > depth)
    return encodeList([
      encodeString(hexPrefix(first[0].slice(depth, shared), false)),
      reference(nodeByDefinition(pairs, shared)),
    ]);
  const children = [...'0123456789abcdef'].map((digit) =>
    reference(
      nodeByDefinition(
        pairs.filter(([path]) => path[depth] === digit),
        depth + 1,
      ),
    ),
  );
  return encodeList([...children, encodeString(Buffer.alloc(0))]);
}

function reference(node: Buffer): Buffer {
  return node.length < 32 ? node : encodeString(keccak256(node));
}

function hexPrefix(path: string, isLeaf: boolean): Buffer {
  const flag = (isLeaf ? 2 : 0) + (path.length % 2);
  return Buffer.from(path.length % 2 === 0 ? `${flag}0${path}` : `${flag}${path}`, 'hex');
}
