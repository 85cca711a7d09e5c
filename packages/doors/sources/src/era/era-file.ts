import { type FileHandle, open } from 'node:fs/promises';
import { readRlpList } from '@chainstead/proof';
import { damage } from './era-damage.ts';
import type { EraFileFacts } from './era-folder.ts';
import type { EraPart } from './era-index.ts';
import { createRecordLocator, type RecordLocator } from './record-locator.ts';
import { createRecordReader, RECORD_HEADER_BYTES, RECORD_TYPES } from './record-reader.ts';
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

export interface EraProof {
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

function createEraFile(handle: FileHandle, facts: EraFileFacts, records: RecordLocator): EraFile {
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
