import { type Hash, keccak256Hex, writeKeccak256 } from '@chainstead/core';
import { encodedLength, encodeString, LIST_BASE, STRING_BASE, writeHeader } from '../rlp/rlp.ts';

export const EMPTY_TRIE_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421' as Hash;

const EMPTY_STRING_NODE = 0x80;
const HASH_LENGTH = 32;
const LEAF_FLAG = 0x20;
const ODD_FLAG = 0x10;

type Entry = { readonly path: Uint8Array; readonly value: Uint8Array };

/** Keys are RLP(index) (yellow paper, appendix D). None is a prefix: branches hold no value. */
export function orderedTrieRoot(values: readonly Uint8Array[]): Hash {
  if (values.length === 0) return EMPTY_TRIE_ROOT;
  const entries = sortedEntries(values);
  return keccak256Hex(encodeNode(entries, 0, entries.length, 0));
}

/** Root first, without embedded nodes. @throws RangeError */
export function orderedTrieProof(values: readonly Uint8Array[], index: number): readonly Buffer[] {
  if (index < 0 || index >= values.length) throw new RangeError(`the list has no value ${index}`);
  const path = pathOf(index);
  const nodes: Buffer[] = [];
  let entries = sortedEntries(values);
  for (let depth = 0; ; ) {
    const node = encodeNode(entries, 0, entries.length, depth);
    if (nodes.length === 0 || node.length >= HASH_LENGTH) nodes.push(node);
    if (entries.length === 1) return nodes;
    let shared = depth;
    while (entries[0]?.path[shared] === entries.at(-1)?.path[shared]) shared++;
    if (shared > depth) depth = shared;
    else {
      const at = depth++;
      entries = entries.filter((entry) => entry.path[at] === path[at]);
    }
  }
}

/** By key bytes: 1 to 127, then 0 (RLP 0x80), then 128 and up. */
function sortedEntries(values: readonly Uint8Array[]): Entry[] {
  const entries: Entry[] = [];
  const add = (index: number): void => {
    const value = values[index];
    if (value !== undefined) entries.push({ path: pathOf(index), value });
  };
  for (let index = 1; index < values.length && index < STRING_BASE; index++) add(index);
  add(0);
  for (let index = STRING_BASE; index < values.length; index++) add(index);
  return entries;
}

function pathOf(index: number): Uint8Array {
  if (index === 0) return Uint8Array.of(STRING_BASE >> 4, 0);
  if (index < STRING_BASE) return Uint8Array.of(index >> 4, index & 0x0f);
  let nibbles = 2;
  while (index >= 16 ** nibbles) nibbles += 2;
  const path = new Uint8Array(2 + nibbles);
  path[0] = STRING_BASE >> 4;
  path[1] = nibbles / 2;
  for (let at = 1 + nibbles, rest = index; at > 1; at--, rest = Math.floor(rest / 16)) path[at] = rest % 16;
  return path;
}

function encodeNode(entries: readonly Entry[], from: number, to: number, depth: number): Buffer {
  const first = entries[from];
  const last = entries[to - 1];
  if (first === undefined || last === undefined) throw new RangeError('a trie node needs at least one entry');
  if (to - from === 1) return encodeLeaf(first, depth);
  // Sorted: a prefix of first and last is shared by all.
  let shared = depth;
  while (first.path[shared] === last.path[shared]) shared++;
  const branch = encodeBranch(entries, from, to, shared);
  return shared === depth ? branch : encodeExtension(first.path, depth, shared, branch);
}

function encodeLeaf(entry: Entry, depth: number): Buffer {
  const { path, value } = entry;
  const pathLength = compactPathLength(path.length - depth);
  const valueLength = value.length === 1 ? encodeString(value).length : encodedLength(value.length);
  const payloadLength = pathLength + valueLength;
  const node = Buffer.allocUnsafe(encodedLength(payloadLength));
  let offset = writeHeader(node, 0, LIST_BASE, payloadLength);
  offset = writeCompactPath(node, offset, path, depth, path.length, LEAF_FLAG);
  if (value.length === 1) node.set(encodeString(value), offset);
  else node.set(value, writeHeader(node, offset, STRING_BASE, value.length));
  return node;
}

function encodeExtension(path: Uint8Array, from: number, to: number, child: Buffer): Buffer {
  const payloadLength = compactPathLength(to - from) + referenceLength(child);
  const node = Buffer.allocUnsafe(encodedLength(payloadLength));
  const offset = writeHeader(node, 0, LIST_BASE, payloadLength);
  writeReference(node, writeCompactPath(node, offset, path, from, to, 0), child);
  return node;
}

function encodeBranch(entries: readonly Entry[], from: number, to: number, depth: number): Buffer {
  const children = new Map<number, Buffer>();
  let payloadLength = 17;
  for (let start = from; start < to; ) {
    const nibble = entries[start]?.path[depth] ?? 0;
    let end = start + 1;
    while (end < to && entries[end]?.path[depth] === nibble) end++;
    const child = encodeNode(entries, start, end, depth + 1);
    children.set(nibble, child);
    payloadLength += referenceLength(child) - 1;
    start = end;
  }
  const node = Buffer.allocUnsafe(encodedLength(payloadLength));
  let offset = writeHeader(node, 0, LIST_BASE, payloadLength);
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = children.get(nibble);
    if (child === undefined) node[offset++] = EMPTY_STRING_NODE;
    else offset = writeReference(node, offset, child);
  }
  node[offset] = EMPTY_STRING_NODE;
  return node;
}

function referenceLength(child: Buffer): number {
  return child.length < HASH_LENGTH ? child.length : HASH_LENGTH + 1;
}

function writeReference(target: Buffer, offset: number, child: Buffer): number {
  if (child.length < HASH_LENGTH) {
    target.set(child, offset);
    return offset + child.length;
  }
  target[offset] = STRING_BASE + HASH_LENGTH;
  writeKeccak256(target, offset + 1, child);
  return offset + 1 + HASH_LENGTH;
}

function compactPathLength(nibbles: number): number {
  const bytes = (nibbles >> 1) + 1;
  return bytes === 1 ? 1 : bytes + 1;
}

/** Hex-prefix (yellow paper, appendix C). At most 9 nibbles, so the header is one byte. */
// biome-ignore lint/complexity/useMaxParams: called for each node of a trie, of which a proof has hundreds: nothing is allocated.
function writeCompactPath(
  target: Buffer,
  offset: number,
  path: Uint8Array,
  from: number,
  to: number,
  flag: number,
): number {
  const length = ((to - from) >> 1) + 1;
  let at = length === 1 ? offset : writeHeader(target, offset, STRING_BASE, length);
  let nibble = from;
  target[at++] = ((to - from) & 1) === 1 ? flag | ODD_FLAG | (path[nibble++] ?? 0) : flag;
  for (; nibble < to; nibble += 2) target[at++] = ((path[nibble] ?? 0) << 4) | (path[nibble + 1] ?? 0);
  return at;
}
