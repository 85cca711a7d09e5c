import type { Chain } from '@chainstead/chains';
import { keccak256Hex } from '@chainstead/core';
import {
  accumulatorRoot,
  beaconNetwork,
  checkHeaderProof,
  decodeHeader,
  EPOCH_BLOCKS,
  type HeaderRecord,
  type HistoryLists,
  headerProofKind,
  type ReadHeader,
} from '@chainstead/proof';
import { damage, damageOfFile } from './era-damage.ts';
import { type EraFile, type EraHeader, openEraFile } from './era-file.ts';
import type { EraFileFacts } from './era-folder.ts';

/** Blocks of an epoch before the merge, which one list entry proves together. */
export interface ProvenEpoch {
  readonly first: number;
  readonly records: readonly HeaderRecord[];
}

export interface CanonicalHeaders {
  /** Null: not in the list. Reads all headers of a file once. @throws EraDamage */
  epoch(file: EraFile): Promise<ProvenEpoch | null>;
  /** @throws EraDamage for a wrong proof */
  isProven(file: EraFile, header: ProvenHeader, read: EraHeader): Promise<boolean>;
}

type ProvenHeader = Pick<ReadHeader, 'number' | 'hash' | 'timestamp'>;

const EPOCHS_MAX = 4;
const ROOT_BYTES = 32;

export function createCanonicalHeaders(chain: Pick<Chain, 'id'>, lists: HistoryLists): CanonicalHeaders {
  const network = beaconNetwork(chain.id);
  const mergeBlock = network?.mergeBlock ?? Number.POSITIVE_INFINITY;
  const epochs = new Map<EraFileFacts, ProvenEpoch | null>();

  async function readEpoch(file: EraFile): Promise<ProvenEpoch | null> {
    const { format, index } = file.facts;
    const expected = await file.accumulator();
    if (expected === null) return format === 'era1' ? damageOfFile('the file has no accumulator') : null;
    const isWhole = index.first % EPOCH_BLOCKS === 0;
    if (!isWhole && format !== 'era1') return null;
    const end = Math.min(index.first + index.count, mergeBlock);
    const records = await readRecords(file.facts, end);
    const root = accumulatorRoot(records);
    if (!root.equals(expected)) damageOfFile('the accumulator is not that of the blocks');
    if (lists.hashes === null) return null;
    const start = ROOT_BYTES * Math.floor(index.first / EPOCH_BLOCKS);
    if (!root.equals(lists.hashes.subarray(start, start + ROOT_BYTES)))
      return isWhole ? damageOfFile('the accumulator is not in the public list') : null;
    return { first: index.first, records };
  }

  return {
    async epoch(file) {
      const { facts } = file;
      if (facts.format === 'e2hs' || facts.index.first >= mergeBlock) return null;
      const known = epochs.get(facts);
      if (known !== undefined) return known;
      const epoch = await readEpoch(file);
      epochs.set(facts, epoch);
      const [oldest] = epochs.keys();
      if (epochs.size > EPOCHS_MAX && oldest !== undefined) epochs.delete(oldest);
      return epoch;
    },
    async isProven(file, header, read) {
      const proof = read.proof ?? (await file.proof(header.number));
      if (network === null || proof === null) return false;
      const kind = headerProofKind(header, network);
      if (kind !== null && proof.kind !== null && proof.kind !== kind)
        damage(`the proof of block ${header.number} is of kind ${proof.kind} instead of ${kind}`);
      const check = checkHeaderProof(header, proof.ssz, network, lists);
      if (check === 'wrong') damage(`the proof of block ${header.number} is wrong`);
      return check === 'proven';
    },
  };
}

/** Each total difficulty follows from the one before it. */
async function readRecords(facts: EraFileFacts, end: number): Promise<readonly HeaderRecord[]> {
  const file = await openEraFile(facts, 'headers');
  if (file === null) return damage('the file changes while it is read');
  try {
    const records: HeaderRecord[] = [];
    let totalDifficulty =
      (await file.totalDifficulty(facts.index.first)) ?? damageOfFile('the file has no total difficulty');
    for (let number = facts.index.first; number < end; number++) {
      const { rlp } = await file.header(number);
      const raw = decodeHeader(rlp)?.raw;
      if (raw?.difficulty === undefined || Number(raw.number) !== number)
        return damageOfFile(`block ${number} has another header`);
      if (number > facts.index.first) totalDifficulty += BigInt(raw.difficulty);
      records.push({ hash: keccak256Hex(rlp), totalDifficulty });
    }
    return records;
  } finally {
    await file.close();
  }
}
