/** SSZ trees (consensus specifications, ssz/merkle-proofs.md). */
import { hash } from 'node:crypto';

const NODE_BYTES = 32;
const pair = Buffer.alloc(2 * NODE_BYTES);

/** Null unless the branch leads from the generalized index to the root. */
export function branchRoot(
  leaf: Uint8Array,
  branch: readonly Uint8Array[],
  generalizedIndex: number,
): Buffer | null {
  let node: Uint8Array = leaf;
  let index = generalizedIndex;
  for (const sibling of branch) {
    node = index % 2 === 1 ? hashPair(sibling, node) : hashPair(node, sibling);
    index = Math.floor(index / 2);
  }
  return index === 1 ? Buffer.from(node) : null;
}

/** Root of a list with at most 2^depth items. */
export function listRoot(leaves: readonly Uint8Array[], depth: number): Buffer {
  let level = leaves;
  let zero: Uint8Array = Buffer.alloc(NODE_BYTES);
  for (let height = 0; height < depth; height++) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < level.length; at += 2) above.push(hashPair(level[at] ?? zero, level[at + 1] ?? zero));
    zero = hashPair(zero, zero);
    level = above;
  }
  const length = Buffer.alloc(NODE_BYTES);
  length.writeUInt32LE(leaves.length);
  return hashPair(level[0] ?? zero, length);
}

export function hashPair(left: Uint8Array, right: Uint8Array): Buffer {
  pair.set(left);
  pair.set(right, NODE_BYTES);
  return hash('sha256', pair, 'buffer');
}

/** Null unless whole nodes. */
export function splitNodes(bytes: Buffer): readonly Buffer[] | null {
  if (bytes.length % NODE_BYTES !== 0) return null;
  return Array.from({ length: bytes.length / NODE_BYTES }, (_, index) =>
    bytes.subarray(index * NODE_BYTES, (index + 1) * NODE_BYTES),
  );
}
