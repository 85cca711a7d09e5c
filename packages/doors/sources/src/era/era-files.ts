import { basename, resolve } from 'node:path';
import type { Chain } from '@chainstead/chains';
import { type BlockRange, InvalidPrimitiveError, keccak256Hex } from '@chainstead/core';
import {
  accumulatorRoot,
  beaconNetwork,
  checkHeaderProof,
  decodeHeader,
  EPOCH_BLOCKS,
  type HeaderRecord,
  type HistoryLists,
  headerProofKind,
  InvalidHexBytesError,
  type ReadHeader,
} from '@chainstead/proof';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { RefusedFile } from '../block-source.ts';
import { SourceError, type SourceFault } from '../source-error.ts';
import { damage, damageOfFile, EraDamage } from './era-damage.ts';
import { type EraFile, type EraHeader, openEraFile } from './era-file.ts';
import { createEraFolder, type EraFileFacts, isSystemError, lastBlock } from './era-folder.ts';

interface EraFiles {
  readonly name: string;
  /** @throws SourceError */
  available(): Promise<readonly BlockRange[]>;
  /** Ends at the first hole. @param read null: the file lacks the part @throws SourceError */
  eachBlock<T extends object>(
    range: BlockRange,
    signal: AbortSignal,
    read: (file: EraFile, number: number) => Promise<T | null>,
  ): AsyncGenerator<T & { readonly file?: string }>;
  /** {@link EraFolder.refuse} */
  refuse(file: string, blocks: BlockRange, reason: string): boolean;
  refusals(): readonly RefusedFile[];
  revision(): number;
  failure(fault: SourceFault, what: string): SourceError;
}

const TRY_NEXT = Symbol('try the next file');

/** Errors of files as those of the source. */
export function createEraFiles(
  path: string,
  network: string,
  onRefusal?: (reason: string) => void,
  isOffered?: (facts: EraFileFacts) => boolean,
): EraFiles {
  const name = `era ${basename(resolve(path))}`;
  const folder = createEraFolder(path, network, onRefusal, isOffered);
  const failure = (fault: SourceFault, what: string) => new SourceError({ source: name, fault, what });

  async function refresh(): Promise<void> {
    try {
      await folder.refresh();
    } catch (error) {
      throw isSystemError(error) ? failure('unavailable', error.message) : error;
    }
  }

  /** @throws SourceError if the file does not hold, and no other one has the block */
  async function attempt<T>(
    facts: EraFileFacts,
    block: number,
    read: () => Promise<T>,
  ): Promise<T | typeof TRY_NEXT> {
    try {
      return await read();
    } catch (error) {
      const isWrong = isDamage(error);
      if (!isWrong && !isSystemError(error)) throw error;
      const isOfFile = !isWrong || (error instanceof EraDamage && error.isOfFile);
      const blocks = { from: block, to: isOfFile ? lastBlock(facts) : block };
      if (folder.refuse(facts.name, blocks, error.message)) return TRY_NEXT;
      throw failure(isWrong ? 'wrong' : 'unavailable', `${facts.name}: ${error.message}`);
    }
  }

  /** Null: no file has the block. */
  async function openAt(block: number): Promise<EraFile | null> {
    for (let isFresh = false; ; ) {
      const [facts] = folder.filesOf(block);
      const file = facts === undefined ? null : await attempt(facts, block, () => openEraFile(facts, 'blocks'));
      if (file === TRY_NEXT) continue;
      if (file !== null || isFresh) return file;
      await refresh();
      isFresh = true;
    }
  }

  return {
    name,
    failure,
    refuse: folder.refuse,
    refusals: folder.refusals,
    revision: folder.revision,
    async available() {
      await refresh();
      return folder.ranges();
    },
    async *eachBlock(range, signal, read) {
      for (let number = range.from; number <= range.to; ) {
        signal.throwIfAborted();
        const file = await openAt(number);
        if (file === null && number > range.from) return;
        const refusal = file === null ? folder.refusalOf(number) : null;
        if (refusal !== null) throw failure('wrong', refusal);
        if (file === null) throw failure('unavailable', `no file has block ${number}`);
        const { facts } = file;
        const source = folder.hasOthers(facts) ? { file: facts.name } : {};
        try {
          const last = Math.min(range.to, lastBlock(facts));
          for (; number <= last; number++) {
            signal.throwIfAborted();
            const value = await attempt(facts, number, () => read(file, number));
            if (value === TRY_NEXT) break;
            if (value === null && number > range.from) return;
            if (value === null) throw failure('unavailable', `${facts.name} has no receipts`);
            yield { ...value, ...source };
          }
        } finally {
          await file.close();
        }
      }
    },
  };
}

function isDamage(error: unknown): error is Error {
  return [EraDamage, InvalidPrimitiveError, InvalidHexBytesError, MalformedAnswerError].some(
    (kind) => error instanceof kind,
  );
}

/** Blocks of an epoch before the merge, which one list entry proves together. */
interface ProvenEpoch {
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
