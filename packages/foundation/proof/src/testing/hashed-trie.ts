import { type Hash, keccak256, keccak256Hex } from '@chainstead/core';
import { encodeList, encodeString } from '../rlp/rlp.ts';
import { EMPTY_TRIE_ROOT } from '../tries/ordered-trie.ts';

/** A trie by its definition (yellow paper, appendix D), with proofs in the form of `eth_getProof`. */
export interface HashedTrie {
  readonly root: Hash;
  /**
   * Returns the nodes on the path to a key (64 digits), whether it exists or not, without those embedded in their
   * parents.
   */
  prove(key: string): Buffer[];
}

type Pair = readonly [path: string, value: Uint8Array];

/** @param entries values by their keys of 64 hexadecimal digits */
export function buildTrie(entries: Iterable<Pair>): HashedTrie {
  const pairs = [...new Map(entries)];
  return {
    root: pairs.length === 0 ? EMPTY_TRIE_ROOT : keccak256Hex(nodeOf(pairs, 0)),
    prove: (key) => (pairs.length === 0 ? [] : proofOf(pairs, 0, key, true)),
  };
}

/** Returns the key of a value in a trie with hashed keys. */
export function hashedKey(bytes: Uint8Array): string {
  return keccak256(bytes).toString('hex');
}

function nodeOf(pairs: readonly Pair[], depth: number): Buffer {
  const [first] = pairs;
  if (first === undefined) return encodeString(Buffer.alloc(0));
  if (pairs.length === 1)
    return encodeList([encodeString(hexPrefix(first[0].slice(depth), true)), encodeString(first[1])]);
  const end = sharedEnd(pairs, first[0], depth);
  if (end > depth)
    return encodeList([
      encodeString(hexPrefix(first[0].slice(depth, end), false)),
      reference(nodeOf(pairs, end)),
    ]);
  const children = [...'0123456789abcdef'].map((digit) =>
    reference(nodeOf(below(pairs, depth, digit), depth + 1)),
  );
  return encodeList([...children, encodeString(Buffer.alloc(0))]);
}

function proofOf(pairs: readonly Pair[], depth: number, key: string, isRoot: boolean): Buffer[] {
  const node = nodeOf(pairs, depth);
  const own = isRoot || node.length >= 32 ? [node] : [];
  const [first] = pairs;
  if (first === undefined || pairs.length === 1) return own;
  const end = sharedEnd(pairs, first[0], depth);
  if (end > depth)
    return key.slice(depth, end) === first[0].slice(depth, end)
      ? [...own, ...proofOf(pairs, end, key, false)]
      : own;
  const children = below(pairs, depth, key[depth] ?? '');
  return children.length === 0 ? own : [...own, ...proofOf(children, depth + 1, key, false)];
}

function sharedEnd(pairs: readonly Pair[], path: string, depth: number): number {
  let end = depth;
  while (pairs.every(([other]) => other[end] === path[end])) end++;
  return end;
}

function below(pairs: readonly Pair[], depth: number, digit: string): readonly Pair[] {
  return pairs.filter(([path]) => path[depth] === digit);
}

function reference(node: Buffer): Buffer {
  return node.length < 32 ? node : encodeString(keccak256(node));
}

function hexPrefix(path: string, isLeaf: boolean): Buffer {
  const flag = (isLeaf ? 2 : 0) + (path.length % 2);
  return Buffer.from(path.length % 2 === 0 ? `${flag}0${path}` : `${flag}${path}`, 'hex');
}
