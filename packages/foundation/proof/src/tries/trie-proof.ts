import { type Hash, keccak256, keccak256Hex } from '@chainstead/core';
import { type RlpItem, readRlpList } from '../rlp/read-rlp.ts';
import { encodeString, integerBytes, STRING_BASE } from '../rlp/rlp.ts';
import { InvalidStateProofError } from '../state-proof-error.ts';
import { EMPTY_TRIE_ROOT } from './ordered-trie.ts';

const HASH_LENGTH = 32;
const BRANCH_ITEMS = 17;
const SHORT_NODE_ITEMS = 2;
const VALUE_PLACE = 16;
/** Hex-prefix encoding (yellow paper, appendix C). */
const LEAF_FLAG = 0x20;
const ODD_FLAG = 0x10;
const KNOWN_FLAGS = LEAF_FLAG | ODD_FLAG;

/** A full branch has 532 bytes, an account's leaf less than 150. */
export const NODE_BYTES_MAX = 1_024;

/** Above any receipt: logs cost gas by bytes. */
const LIST_NODE_BYTES_MAX = 8_388_608;

interface WantedKey {
  /** Nibbles. */
  readonly path: Uint8Array;
  readonly nodeBytesMax: number;
  readonly isHashed: boolean;
}

/** Null: proven absent. Embedded nodes may be repeated. @throws InvalidStateProofError */
export function readTrieProof(root: Hash, key: Uint8Array, nodes: readonly Buffer[]): Buffer | null {
  if (key.length !== HASH_LENGTH) throw new RangeError('the key of a trie with hashed keys has 32 bytes');
  return walk(root, { path: nibblesOf(key), nodeBytesMax: NODE_BYTES_MAX, isHashed: true }, nodes);
}

/** Keys are RLP(index). Null: the list is proven shorter. @throws InvalidStateProofError */
export function readOrderedTrieProof(root: Hash, index: number, nodes: readonly Buffer[]): Buffer | null {
  const path = nibblesOf(encodeString(integerBytes(index)));
  return walk(root, { path, nodeBytesMax: LIST_NODE_BYTES_MAX, isHashed: false }, nodes);
}

function walk(root: Hash, wanted: WantedKey, nodes: readonly Buffer[]): Buffer | null {
  if (nodes.length > wanted.path.length + 1)
    throw new InvalidStateProofError('too-deep', `${nodes.length} nodes`);
  const [first] = nodes;
  if (root === EMPTY_TRIE_ROOT) {
    const isEmptyNode = first?.length === 1 && first[0] === STRING_BASE;
    if (nodes.length > (isEmptyNode ? 1 : 0)) throw new InvalidStateProofError('too-long', 'the trie is empty');
    return null;
  }
  if (first === undefined) throw new InvalidStateProofError('too-short', 'no nodes');
  if (keccak256Hex(first) !== root)
    throw new InvalidStateProofError('other-root', `it begins at ${keccak256Hex(first)}`);
  let step = stepThrough(first, wanted, 0);
  let taken = 1;
  while (step.child !== null) {
    const { child, depth } = step;
    const node = nodes[taken];
    if (child.isList) {
      if (node?.equals(child.encoded) === true) taken++;
      step = stepThrough(child.encoded, wanted, depth);
      continue;
    }
    if (node === undefined)
      throw new InvalidStateProofError('too-short', `it ends after ${depth} digits of the key`);
    if (!keccak256(node).equals(child.payload))
      throw new InvalidStateProofError('node-mismatch', `node ${taken} is not the one that its parent names`);
    step = stepThrough(node, wanted, depth);
    taken++;
  }
  if (taken < nodes.length)
    throw new InvalidStateProofError('too-long', `${nodes.length - taken} nodes are left over`);
  return step.value;
}

type Step =
  | { readonly child: RlpItem; readonly depth: number }
  | { readonly child: null; readonly value: Buffer | null };

const ABSENT: Step = { child: null, value: null };

function stepThrough(encoded: Buffer, { path, nodeBytesMax, isHashed }: WantedKey, depth: number): Step {
  const items = encoded.length > nodeBytesMax ? null : readRlpList(encoded);
  if (items?.length === BRANCH_ITEMS) return stepThroughBranch(items, path, depth);
  const [compact, content] = items ?? [];
  if (items?.length !== SHORT_NODE_ITEMS || compact === undefined || content === undefined)
    throw malformed('a node is neither branch nor extension nor leaf');
  const { isLeaf, nibbles } = readCompactPath(compact);
  const end = depth + nibbles.length;
  const isOnTheWay = nibbles.every((nibble, at) => nibble === path[depth + at]);
  if (isLeaf) {
    const isAtEnd = end === path.length;
    if ((isHashed && !isAtEnd) || content.isList) throw malformed('a leaf is not at the end of a key');
    return isOnTheWay && isAtEnd ? { child: null, value: content.payload } : ABSENT;
  }
  if (nibbles.length === 0 || (isHashed && end >= path.length))
    throw malformed('an extension of no length, or beyond the key');
  checkReference(content);
  return isOnTheWay ? { child: content, depth: end } : ABSENT;
}

function stepThroughBranch(items: readonly RlpItem[], path: Uint8Array, depth: number): Step {
  const nibble = path[depth];
  const child = nibble === undefined ? undefined : items[nibble];
  if (child === undefined || items[VALUE_PLACE]?.encoded[0] !== STRING_BASE)
    throw malformed('a branch holds a value, or is beyond the key');
  if (!child.isList && child.payload.length === 0) return ABSENT;
  checkReference(child);
  return { child, depth: depth + 1 };
}

function checkReference({ isList, encoded, payload }: RlpItem): void {
  if (isList ? encoded.length >= HASH_LENGTH : payload.length !== HASH_LENGTH)
    throw malformed('a node is named by what is no hash');
}

function readCompactPath({ isList, payload }: RlpItem): {
  readonly isLeaf: boolean;
  readonly nibbles: Uint8Array;
} {
  const [first] = payload;
  const isOdd = first !== undefined && (first & ODD_FLAG) !== 0;
  const flags = (first ?? 0xff) & 0xf0;
  if (isList || first === undefined || (flags & ~KNOWN_FLAGS) !== 0 || (!isOdd && (first & 0x0f) !== 0))
    throw malformed('the path of a node is not in hex-prefix encoding');
  const all = nibblesOf(payload);
  return { isLeaf: (flags & LEAF_FLAG) !== 0, nibbles: all.subarray(isOdd ? 1 : 2) };
}

function nibblesOf(bytes: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(bytes.length * 2);
  bytes.forEach((byte, at) => {
    nibbles[at * 2] = byte >> 4;
    nibbles[at * 2 + 1] = byte & 0x0f;
  });
  return nibbles;
}

function malformed(what: string): InvalidStateProofError {
  return new InvalidStateProofError('malformed', what);
}
