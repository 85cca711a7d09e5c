import { type FileHandle, open } from 'node:fs/promises';
import { getOrCompute } from '@chainstead/core';
import { readRlpList } from '@chainstead/proof';
import {
  createRecordReader,
  damage,
  RECORD_HEADER_BYTES,
  RECORD_TYPES,
  type RecordHead,
  type RecordReader,
} from './era-damage.ts';
import type { EraFileFacts } from './era-folder.ts';
import { type EraPart, readOffsets } from './era-index.ts';
import { decompress } from './snappy.ts';

/** Null: the file has none. All throw `EraDamage`. */
export interface EraFile {
  readonly facts: EraFileFacts;
  header(number: number): Promise<EraHeader>;
  body(number: number): Promise<Buffer>;
  receipts(number: number): Promise<EraReceipts | null>;
  totalDifficulty(number: number): Promise<bigint | null>;
  proof(number: number): Promise<EraProof | null>;
  /** Root over the file's blocks before the merge. */
  accumulator(): Promise<Buffer | null>;
  close(): Promise<void>;
}

export interface EraHeader {
  readonly rlp: Buffer;
  /** In e2hs files. */
  readonly proof: EraProof | null;
}

export interface EraReceipts {
  readonly rlp: Buffer;
  readonly isSlim: boolean;
}

interface EraProof {
  /** Null: as the header requires. */
  readonly kind: number | null;
  readonly ssz: Buffer;
}

const WINDOW_BYTES = 128 * 1024;
/** Most compressed headers are smaller. */
const HEADER_WINDOW_BYTES = 1024;

const HEADER_BYTES_MAX = 64 * 1024;
const PROOF_BYTES_MAX = 16 * 1024;
/** Items of {@link readRlpList} are smaller. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;
const ROOT_BYTES = 32;
const OFFSET_BYTES = 4;

/** Null: the file has changed since it was listed. @param reads headers alone: in smaller steps */
export async function openEraFile(facts: EraFileFacts, reads: 'headers' | 'blocks'): Promise<EraFile | null> {
  const handle = await open(facts.path, 'r');
  try {
    const { size, mtimeMs } = await handle.stat();
    if (size === facts.bytes && mtimeMs === facts.modifiedMs) {
      const windowBytes = reads === 'headers' ? HEADER_WINDOW_BYTES : WINDOW_BYTES;
      return createEraFile(handle, facts, await createRecordLocator(handle, facts, windowBytes));
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return null;
}

function createEraFile(
  handle: FileHandle,
  facts: EraFileFacts,
  records: Awaited<ReturnType<typeof createRecordLocator>>,
): EraFile {
  async function read(number: number, part: EraPart, bytesMax: number) {
    const record = await records.find(number, part);
    return record === null ? null : { type: record.type, data: decompress(await record.data(), bytesMax) };
  }

  return {
    facts,
    async header(number) {
      const record = await read(number, 'header', HEADER_BYTES_MAX);
      if (record === null) return damage(`block ${number} has no header`);
      return record.type === RECORD_TYPES.header ? { rlp: record.data, proof: null } : splitHeader(record.data);
    },
    async body(number) {
      const record = await read(number, 'body', LIST_BYTES_MAX);
      return record?.data ?? damage(`block ${number} has no body`);
    },
    async receipts(number) {
      const record = await read(number, 'receipts', LIST_BYTES_MAX);
      return record === null ? null : { rlp: record.data, isSlim: record.type === RECORD_TYPES.slimReceipts };
    },
    async totalDifficulty(number) {
      const little = await (await records.find(number, 'difficulty'))?.data();
      if (little === undefined) return null;
      if (little.length !== ROOT_BYTES)
        damage(`block ${number} has a total difficulty of ${little.length} bytes`);
      return BigInt(`0x${Buffer.from(little).reverse().toString('hex')}`);
    },
    async proof(number) {
      const record = await read(number, 'proof', PROOF_BYTES_MAX);
      return record === null ? null : readProof(record.data);
    },
    async accumulator() {
      const bytes = RECORD_HEADER_BYTES + ROOT_BYTES;
      const reader = createRecordReader(handle, facts.bytes, 0);
      const record = await reader.bytes(Math.max(0, facts.index.start - bytes), bytes);
      const isAccumulator = record.readUInt32LE(0) === RECORD_TYPES.accumulator + (ROOT_BYTES << 16);
      return isAccumulator ? record.subarray(RECORD_HEADER_BYTES) : null;
    },
    close: () => handle.close(),
  };
}

/** SSZ container of two byte lists: header RLP, proof. */
function splitHeader(ssz: Buffer): EraHeader {
  const start = 2 * OFFSET_BYTES;
  if (ssz.length < start || ssz.readUInt32LE(0) !== start) damage('a header with proof has another form');
  const end = ssz.readUInt32LE(OFFSET_BYTES);
  if (end < start || end > ssz.length) damage('a header with proof has another form');
  return { rlp: ssz.subarray(start, end), proof: { kind: null, ssz: ssz.subarray(end) } };
}

function readProof(rlp: Buffer): EraProof {
  const [kind, ssz] = readRlpList(rlp) ?? [];
  if (kind === undefined || ssz === undefined || kind.isList || ssz.isList || kind.payload.length > 1)
    return damage('a proof has another form');
  return { kind: kind.payload[0] ?? 0, ssz: ssz.payload };
}

const PART_TYPES: Readonly<Record<EraPart, readonly number[]>> = {
  header: [RECORD_TYPES.header, RECORD_TYPES.headerWithProof],
  body: [RECORD_TYPES.body],
  receipts: [RECORD_TYPES.receipts, RECORD_TYPES.slimReceipts],
  difficulty: [RECORD_TYPES.difficulty],
  proof: [RECORD_TYPES.proof],
};
/** Behind each header of an era1 or e2hs file. */
const SEQUENCE: readonly EraPart[] = ['body', 'receipts', 'difficulty'];

async function createRecordLocator(
  handle: FileHandle,
  { bytes, format, index }: EraFileFacts,
  windowBytes: number,
) {
  const isGrouped = format === 'ere';
  // In ere files, equal parts are neighbours.
  const readers = new Map<EraPart, RecordReader>();
  function readerOf(part: EraPart): RecordReader {
    return getOrCompute(readers, isGrouped ? part : 'header', () =>
      createRecordReader(handle, bytes, windowBytes),
    );
  }

  const offsets = await readOffsets(createRecordReader(handle, bytes, 0), index);
  const offsetOf = (number: number, column: number): number | undefined =>
    offsets[(number - index.first) * index.columns.length + column];

  /** Unknown records may stand between the known ones. */
  async function walk(number: number, part: EraPart): Promise<RecordHead | null> {
    const reader = readerOf(part);
    const limit = offsetOf(number + 1, 0) ?? index.start;
    let head = await reader.headAt(offsetOf(number, 0) ?? -1);
    let step = 0;
    while (head.end + RECORD_HEADER_BYTES <= limit) {
      head = await reader.headAt(head.end);
      const place = SEQUENCE.findIndex((one) => PART_TYPES[one].includes(head.type));
      if (place < 0) continue;
      if (place < step) damage(`block ${number} has its records in another order`);
      if (SEQUENCE[place] === part) return head;
      step = place + 1;
    }
    return null;
  }

  async function headOf(number: number, part: EraPart): Promise<RecordHead | null> {
    const column = index.columns.indexOf(part);
    if (column < 0) return isGrouped ? null : walk(number, part);
    const head = await readerOf(part).headAt(offsetOf(number, column) ?? -1);
    if (!PART_TYPES[part].includes(head.type))
      damage(`the index leads to a record of type ${head.type} instead of the ${part} of block ${number}`);
    return head;
  }

  return {
    /** Null: the file has no such part. @throws EraDamage */
    async find(number: number, part: EraPart) {
      const head = await headOf(number, part);
      return head === null ? null : { type: head.type, data: () => readerOf(part).dataOf(head) };
    },
  };
}
