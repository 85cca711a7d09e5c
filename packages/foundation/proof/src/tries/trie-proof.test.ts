import { keccak256Hex } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeList, encodeString } from '../rlp/rlp.ts';
import { InvalidStateProofError, type StateProofFault } from '../state-proof-error.ts';
import { buildTrie } from '../testing/hashed-trie.ts';
import { EMPTY_TRIE_ROOT } from './ordered-trie.ts';
import { readTrieProof } from './trie-proof.ts';

const digits = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 15 }), { minLength: length, maxLength: length })
    .map((some) => some.map((one) => one.toString(16)).join(''));
/** Keys that diverge early, late, and at the last digit; the last case has nodes embedded in their parents. */
const keys = fc.oneof(
  digits(64),
  digits(2).map((end) => `${'ab'.repeat(31)}${end}`),
  digits(3).map((end) => `${'7'.repeat(30)}${end}${'7'.repeat(31)}`),
);
const values = fc.uint8Array({ minLength: 1, maxLength: 40 });
const entries = fc.array(fc.tuple(keys, values), { minLength: 1, maxLength: 12 });
const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** Returns the outcome: a value in hexadecimal, null, or the fault. */
function outcome(root: Parameters<typeof readTrieProof>[0], key: string, nodes: readonly Buffer[]): unknown {
  try {
    return readTrieProof(root, bytes(key), nodes)?.toString('hex') ?? null;
  } catch (error) {
    if (error instanceof InvalidStateProofError) return { fault: error.fault };
    throw error;
  }
}

const refused = (fault: StateProofFault) => ({ fault });

describe('a proof of a trie with hashed keys', () => {
  it('gives the value of each key, and null for keys that are not there', () => {
    fc.assert(
      fc.property(entries, keys, (given, other) => {
        const held = new Map(given);
        const trie = buildTrie(held);
        for (const [key, value] of held)
          expect(outcome(trie.root, key, trie.prove(key))).toBe(Buffer.from(value).toString('hex'));
        const expected = held.get(other);
        expect(outcome(trie.root, other, trie.prove(other))).toBe(
          expected === undefined ? null : Buffer.from(expected).toString('hex'),
        );
      }),
    );
  });

  it('is refused with any byte of any node altered', () => {
    fc.assert(
      fc.property(entries, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, seed, change) => {
        const trie = buildTrie(given);
        const key = given[seed % given.length]?.[0] ?? '';
        const proof = trie.prove(key);
        for (const [place, node] of proof.entries())
          for (let at = 0; at < node.length; at++) {
            const altered = Buffer.from(node);
            altered.writeUInt8(node.readUInt8(at) ^ change, at);
            expect(outcome(trie.root, key, proof.with(place, altered))).toEqual({ fault: expect.any(String) });
          }
      }),
      { numRuns: 30 },
    );
  });

  it('is refused with a node missing, repeated, added or in another place', () => {
    fc.assert(
      fc.property(entries, fc.nat(), (given, seed) => {
        const trie = buildTrie(given);
        const key = given[seed % given.length]?.[0] ?? '';
        const proof = trie.prove(key);
        const others = proof.flatMap((node, place) => [
          proof.toSpliced(place, 1),
          proof.toSpliced(place, 0, node),
          proof.toSpliced(place + 1, 0, bytes('80')),
          proof.toSpliced(place, 1, encodeString(node)),
        ]);
        if (proof.length > 1) others.push(proof.toReversed());
        for (const other of others) expect(outcome(trie.root, key, other)).toEqual({ fault: expect.any(String) });
      }),
    );
  });

  it('of one key never tells a wrong value of another', () => {
    fc.assert(
      fc.property(entries, fc.nat(), keys, (given, seed, stranger) => {
        const held = new Map(given);
        const trie = buildTrie(held);
        const proof = trie.prove(given[seed % given.length]?.[0] ?? '');
        for (const key of [...held.keys(), stranger]) {
          const value = held.get(key);
          const truth = value === undefined ? null : Buffer.from(value).toString('hex');
          const reported = outcome(trie.root, key, proof);
          if (typeof reported !== 'object' || reported === null) expect(reported).toBe(truth);
        }
      }),
    );
  });

  it('may repeat a node behind the parent that holds it, and no other', () => {
    const [one, other] = [`${'ab'.repeat(31)}01`, `${'ab'.repeat(31)}02`];
    const trie = buildTrie([
      [one, bytes('05')],
      [other, bytes('06')],
    ]);
    const proof = trie.prove(one);
    const leaf = encodeList([encodeString(bytes('20')), encodeString(bytes('05'))]);
    expect(outcome(trie.root, one, proof)).toBe('05');
    // The extension contains the branch, which contains the leaf.
    expect(proof.at(-1)?.includes(leaf)).toBe(true);
    expect(outcome(trie.root, one, [...proof, leaf])).toBe('05');
    expect(outcome(trie.root, one, [...proof, leaf, leaf])).toEqual(refused('too-long'));
    expect(outcome(trie.root, other, [...proof, leaf])).toEqual(refused('too-long'));
  });

  it('of an empty trie has no nodes, or the empty one', () => {
    const key = 'ab'.repeat(32);
    expect(outcome(EMPTY_TRIE_ROOT, key, [])).toBeNull();
    expect(outcome(EMPTY_TRIE_ROOT, key, [bytes('80')])).toBeNull();
    expect(outcome(EMPTY_TRIE_ROOT, key, [bytes('80'), bytes('80')])).toEqual(refused('too-long'));
    expect(outcome(EMPTY_TRIE_ROOT, key, [bytes('c0')])).toEqual(refused('too-long'));
    expect(outcome(keccak256Hex(bytes('c0')), key, [])).toEqual(refused('too-short'));
  });

  it('has no more nodes than a key has digits and one', () => {
    const key = 'ab'.repeat(32);
    const trie = buildTrie([[key, bytes('05')]]);
    const proof = trie.prove(key);
    const many = Array.from({ length: 65 }, () => bytes('80'));
    expect(outcome(trie.root, key, [...proof, ...many])).toEqual(refused('too-deep'));
  });

  const key = '12'.repeat(32);
  const leaf = (path: string, value = encodeString(bytes('05'))): Buffer =>
    encodeList([encodeString(bytes(path)), value]);
  const empty = encodeString(Buffer.alloc(0));
  const branch = (child: Buffer, value = empty): Buffer =>
    encodeList([...Array.from({ length: 16 }, (_, place) => (place === 1 ? child : empty)), value]);

  it.each<[string, Buffer[]]>([
    ['a node that is no list', [encodeString(bytes('aa'.repeat(40)))]],
    ['a list of three', [encodeList([empty, empty, empty])]],
    ['a leaf before the end of the key', [leaf(`20${'12'.repeat(31)}`)]],
    ['a leaf beyond the end of the key', [leaf(`20${'12'.repeat(33)}`)]],
    ['a leaf that holds a list', [leaf(`20${key}`, encodeList([empty]))]],
    ['a path with an unknown flag', [leaf(`40${key}`)]],
    ['a path of even length with a digit beside the flag', [leaf(`21${key}`)]],
    ['an even path whose flag byte is not clean', [leaf(`2f${key}`)]],
    ['a path without a flag', [encodeList([empty, encodeString(bytes('05'))])]],
    [
      'an extension of no length',
      [encodeList([encodeString(bytes('00')), encodeString(bytes('aa'.repeat(32)))])],
    ],
    ['an extension over the whole key', [leaf(`00${key}`, encodeString(bytes('aa'.repeat(32))))]],
    ['an extension to what is no hash', [leaf('0012', encodeString(bytes('aa'.repeat(31))))]],
    ['a branch that holds a value', [branch(encodeString(bytes('aa'.repeat(32))), encodeString(bytes('05')))]],
    ['a branch with a child that is no hash', [branch(encodeString(bytes('aa')))]],
    ['a branch with a whole node where a hash belongs', [branch(leaf(`3${key.slice(1)}`))]],
    [
      'a node larger than any',
      [encodeList([encodeString(bytes(`20${key}`)), encodeString(Buffer.alloc(1_100, 1))])],
    ],
  ])('is refused with %s', (_, nodes) => {
    expect(outcome(keccak256Hex(nodes[0] ?? empty), key, nodes)).toEqual(refused('malformed'));
  });

  it('says where it begins when that is another root', () => {
    const trie = buildTrie([[key, bytes('05')]]);
    expect(outcome(keccak256Hex(bytes('c0')), key, trie.prove(key))).toEqual(refused('other-root'));
  });
});
