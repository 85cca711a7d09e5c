import { hash } from 'node:crypto';
import type { Hash } from '@chainstead/core';
import type { ReadHeader } from '../blocks/decode-header.ts';
import { hexToBytes } from '../rlp/rlp-text.ts';

/** Plain concatenations of roots; null: not available. */
export interface HistoryLists {
  readonly hashes: Buffer | null;
  readonly roots: Buffer | null;
  /** Pairs of block summary root and state summary root. */
  readonly summaries: Buffer | null;
}

/** `unlisted`: no list, or one that ends earlier. */
type HeaderProofCheck = 'proven' | 'unlisted' | 'wrong';

const ROOT_BYTES = 32;
const SLOT_BYTES = 8;
/** In the beacon block: body, execution payload, block hash. */
const HASH_INDEX = 3228;
/** From Deneb, whose payload has more than 16 members. */
const HASH_INDEX_DENEB = 6444;

/** Proof records of ere files: hashes accumulator, historical roots, summaries of Capella and of Deneb. */
type HeaderProofKind = 0 | 1 | 2 | 3;

/** Null: no known form, or between slots. */
export function headerProofKind(
  { number, timestamp }: Pick<ReadHeader, 'number' | 'timestamp'>,
  network: BeaconNetwork,
): HeaderProofKind | null {
  if (number < network.mergeBlock) return 0;
  const slot = slotAt(timestamp, network);
  if (slot === null || (network.gloasSlot !== null && slot >= network.gloasSlot)) return null;
  if (slot < network.capellaSlot) return 1;
  return slot < network.denebSlot ? 2 : 3;
}

/** @param ssz of the kind that follows from the header */
export function checkHeaderProof(
  header: Pick<ReadHeader, 'number' | 'timestamp' | 'hash'>,
  ssz: Buffer,
  network: BeaconNetwork,
  lists: HistoryLists,
): HeaderProofCheck {
  const kind = headerProofKind(header, network);
  if (kind === null) return 'unlisted';
  if (kind !== 0) return checkBeaconProof(header, kind, ssz, network, lists);
  const nodes = splitNodes(ssz);
  const index = header.number % EPOCH_BLOCKS;
  const root = nodes === null ? null : branchRoot(hexToBytes(header.hash), nodes, 4 * EPOCH_BLOCKS + 2 * index);
  return compare(root, lists.hashes, Math.floor(header.number / EPOCH_BLOCKS), ROOT_BYTES);
}

/** Historical hashes accumulator file: two offsets, then the roots. Null: another form. */
export function readHashesList(file: Buffer): Buffer | null {
  if (file.length < 2 * 4 || file.readUInt32LE(0) !== 8) return null;
  const roots = file.subarray(8, file.readUInt32LE(4));
  return roots.length % ROOT_BYTES === 0 ? roots : null;
}

function checkBeaconProof(
  header: Pick<ReadHeader, 'timestamp' | 'hash'>,
  kind: Exclude<HeaderProofKind, 0>,
  ssz: Buffer,
  network: BeaconNetwork,
  lists: HistoryLists,
): HeaderProofCheck {
  const nodes = splitNodes(ssz.subarray(0, -SLOT_BYTES));
  const slot = slotAt(header.timestamp, network);
  if (nodes === null || slot === null || ssz.length < SLOT_BYTES) return 'wrong';
  if (ssz.readBigUInt64LE(ssz.length - SLOT_BYTES) !== BigInt(slot)) return 'wrong';
  // Historical batches hash two lists, of which the block roots are the first.
  const beaconNodes = kind === 1 ? 14 : 13;
  const [beaconRoot] = nodes.slice(beaconNodes);
  if (beaconRoot === undefined) return 'wrong';
  const hashIndex = kind === 3 ? HASH_INDEX_DENEB : HASH_INDEX;
  const computed = branchRoot(hexToBytes(header.hash), nodes.slice(beaconNodes + 1), hashIndex);
  if (computed === null || !computed.equals(beaconRoot)) return 'wrong';
  const place = 2 ** beaconNodes + (slot % EPOCH_BLOCKS);
  const root = branchRoot(beaconRoot, nodes.slice(0, beaconNodes), place);
  const era = Math.floor(slot / EPOCH_BLOCKS);
  if (kind === 1) return compare(root, lists.roots, era, ROOT_BYTES);
  const firstEra = Math.floor(network.capellaSlot / EPOCH_BLOCKS);
  return compare(root, lists.summaries, era - firstEra, 2 * ROOT_BYTES);
}

function slotAt(timestamp: number, { genesisTime }: BeaconNetwork): number | null {
  const slot = (timestamp - genesisTime) / SLOT_SECONDS;
  return Number.isInteger(slot) && slot >= 0 ? slot : null;
}

/** An entry starts with its root. */
function compare(root: Buffer | null, list: Buffer | null, entry: number, entryBytes: number): HeaderProofCheck {
  if (root === null) return 'wrong';
  const start = entry * entryBytes;
  if (list === null || start + entryBytes > list.length) return 'unlisted';
  return root.equals(list.subarray(start, start + ROOT_BYTES)) ? 'proven' : 'wrong';
}

/** SSZ trees (consensus specifications, ssz/merkle-proofs.md). */
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

export const EPOCH_BLOCKS = 8192;
const EPOCH_DEPTH = 13;
const DIFFICULTY_BYTES = 32;

export interface HeaderRecord {
  readonly hash: Hash;
  readonly totalDifficulty: bigint;
}

/** Hash tree root of a `List[HeaderRecord, 8192]`: one entry of the historical hashes list. */
export function accumulatorRoot(records: readonly HeaderRecord[]): Buffer {
  return listRoot(
    records.map(({ hash, totalDifficulty }) => {
      const digits = BigInt.asUintN(8 * DIFFICULTY_BYTES, totalDifficulty)
        .toString(16)
        .padStart(2 * DIFFICULTY_BYTES, '0');
      return hashPair(hexToBytes(hash), Buffer.from(digits, 'hex').reverse());
    }),
    EPOCH_DEPTH,
  );
}

/** Slots of the beacon chain at which the form of a header's proof changes. */
interface BeaconNetwork {
  /** Unix seconds. */
  readonly genesisTime: number;
  /** The first without proof of work. */
  readonly mergeBlock: number;
  /** Total difficulty of the merge block and all later ones. */
  readonly finalDifficulty: bigint;
  readonly capellaSlot: number;
  readonly denebSlot: number;
  /** Null: not scheduled. */
  readonly gloasSlot: number | null;
}

const SLOT_SECONDS = 12;

const NETWORKS: ReadonlyMap<number, BeaconNetwork> = new Map([
  [
    1,
    {
      genesisTime: 1_606_824_023,
      mergeBlock: 15_537_394,
      finalDifficulty: 58_750_003_716_598_352_816_469n,
      capellaSlot: 6_209_536,
      denebSlot: 8_626_176,
      gloasSlot: null,
    },
  ],
  [
    11_155_111,
    {
      genesisTime: 1_655_733_600,
      mergeBlock: 1_450_409,
      finalDifficulty: 17_000_018_015_853_232n,
      capellaSlot: 1_818_624,
      denebSlot: 4_243_456,
      gloasSlot: 11_296_768,
    },
  ],
]);

export function beaconNetwork(chainId: number): BeaconNetwork | null {
  return NETWORKS.get(chainId) ?? null;
}
