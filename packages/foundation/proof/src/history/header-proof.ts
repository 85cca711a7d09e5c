import type { ReadHeader } from '../blocks/read-header.ts';
import { hexToBytes } from '../rlp/hex-bytes.ts';
import { type BeaconNetwork, SLOT_SECONDS } from './beacon-networks.ts';
import { EPOCH_BLOCKS } from './hashes-accumulator.ts';
import { branchRoot, splitNodes } from './merkle-branch.ts';

/** Plain concatenations of roots; null: not available. */
export interface HistoryLists {
  readonly hashes: Buffer | null;
  readonly roots: Buffer | null;
  /** Pairs of block summary root and state summary root. */
  readonly summaries: Buffer | null;
}

/** `unlisted`: no list, or one that ends earlier. */
export type HeaderProofCheck = 'proven' | 'unlisted' | 'wrong';

const ROOT_BYTES = 32;
const SLOT_BYTES = 8;
/** In the beacon block: body, execution payload, block hash. */
const HASH_INDEX = 3228;
/** From Deneb, whose payload has more than 16 members. */
const HASH_INDEX_DENEB = 6444;

/** Proof records of ere files: hashes accumulator, historical roots, summaries of Capella and of Deneb. */
export type HeaderProofKind = 0 | 1 | 2 | 3;

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
