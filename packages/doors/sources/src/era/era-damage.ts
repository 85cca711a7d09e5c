import type { FileHandle } from 'node:fs/promises';

/** The source adds its name and the file's. */
export class EraDamage extends Error {
  /** No block of the file can be used. */
  readonly isOfFile: boolean;

  constructor(what: string, isOfFile = false) {
    super(what);
    this.isOfFile = isOfFile;
  }
}

export function damage(what: string): never {
  throw new EraDamage(what);
}

export function damageOfFile(what: string): never {
  throw new EraDamage(what, true);
}

/** The e2store container: records of type (2 bytes), length (4), reserved (2), data. */
export const RECORD_HEADER_BYTES = 8;
const RECORD_BYTES_MAX = 50 * 1024 * 1024;

/** Little-endian numbers of the two bytes. */
export const RECORD_TYPES = {
  version: 0x3265,
  header: 0x03,
  headerWithProof: 0x0103,
  body: 0x04,
  receipts: 0x05,
  difficulty: 0x06,
  accumulator: 0x07,
  slimReceipts: 0x0a,
  proof: 0x0b,
  blockIndex: 0x3266,
  dynamicIndex: 0x3267,
} as const;

export interface RecordHead {
  readonly type: number;
  readonly start: number;
  /** Start of the next record. */
  readonly end: number;
}

export interface RecordReader {
  /** @throws EraDamage */
  bytes(start: number, length: number): Promise<Buffer>;
  /** @throws EraDamage */
  headAt(start: number): Promise<RecordHead>;
  /** @throws EraDamage */
  dataOf(head: RecordHead): Promise<Buffer>;
}

/** Neighbouring records share one read of `windowBytes`. Returned bytes stay valid. */
export function createRecordReader(handle: FileHandle, fileBytes: number, windowBytes: number): RecordReader {
  let window = Buffer.alloc(0);
  let windowStart = 0;

  async function bytes(start: number, length: number): Promise<Buffer> {
    if (start < 0 || start + length > fileBytes)
      damage(`bytes ${start} to ${start + length} are outside the file`);
    if (start < windowStart || start + length > windowStart + window.length) {
      const wanted = Math.min(Math.max(length, windowBytes), fileBytes - start);
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, start);
      window = buffer.subarray(0, bytesRead);
      windowStart = start;
      if (bytesRead < length) damage(`the file ends at byte ${start + bytesRead}`);
    }
    return window.subarray(start - windowStart, start - windowStart + length);
  }

  return {
    bytes,
    async headAt(start) {
      const head = await bytes(start, RECORD_HEADER_BYTES);
      const length = head.readUInt32LE(2);
      const end = start + RECORD_HEADER_BYTES + length;
      if (head.readUInt16LE(6) !== 0) damage(`the record at byte ${start} has reserved bytes that are not zero`);
      if (length > RECORD_BYTES_MAX) damage(`the record at byte ${start} has ${length} bytes`);
      if (end > fileBytes) damage(`the record at byte ${start} ends beyond the file`);
      return { type: head.readUInt16LE(0), start, end };
    },
    dataOf: ({ start, end }) => bytes(start + RECORD_HEADER_BYTES, end - start - RECORD_HEADER_BYTES),
  };
}
