/** Snappy in its framing format (google/snappy, framing_format.txt). */
import { damage } from './era-damage.ts';

const CHUNK_HEADER_BYTES = 4;
const CHECKSUM_BYTES = 4;
const CHUNK_BYTES_MAX = 65_536;
const IDENTIFIER = Buffer.from('ff060000734e61507059', 'hex');

const COMPRESSED = 0x00;
const UNCOMPRESSED = 0x01;
const SKIPPABLE_FIRST = 0x80;

interface Chunk {
  readonly isCompressed: boolean;
  readonly payload: Buffer;
  readonly bytes: number;
  readonly checksum: number;
}

/** Lengths are added up before a byte is decompressed. @throws EraDamage */
export function decompress(framed: Buffer, bytesMax: number): Buffer {
  const chunks = chunksOf(framed, bytesMax);
  const whole = Buffer.allocUnsafe(chunks.reduce((sum, { bytes }) => sum + bytes, 0));
  let start = 0;
  for (const { isCompressed, payload, bytes, checksum } of chunks) {
    const target = whole.subarray(start, start + bytes);
    if (isCompressed) readBlock(payload, target);
    else payload.copy(target);
    if (maskedCrc32c(target) !== checksum) damage('a checksum of compressed data is wrong');
    start += bytes;
  }
  return whole;
}

function chunksOf(framed: Buffer, bytesMax: number): readonly Chunk[] {
  if (!framed.subarray(0, IDENTIFIER.length).equals(IDENTIFIER)) damage('compressed data has no identifier');
  const chunks: Chunk[] = [];
  let sum = 0;
  for (let at = IDENTIFIER.length; at < framed.length; ) {
    if (at + CHUNK_HEADER_BYTES > framed.length) damage('compressed data ends inside a chunk');
    const type = framed[at];
    const end = at + CHUNK_HEADER_BYTES + framed.readUIntLE(at + 1, 3);
    if (end > framed.length) damage('a chunk of compressed data is longer than its record');
    const content = framed.subarray(at + CHUNK_HEADER_BYTES, end);
    at = end;
    if (type === COMPRESSED || type === UNCOMPRESSED) {
      const chunk = chunkOf(content, type === COMPRESSED);
      sum += chunk.bytes;
      if (sum > bytesMax) damage(`a record has more than ${bytesMax} bytes when decompressed`);
      chunks.push(chunk);
    } else if ((type ?? 0) < SKIPPABLE_FIRST) damage(`compressed data has a chunk of the unknown type ${type}`);
  }
  return chunks;
}

function chunkOf(content: Buffer, isCompressed: boolean): Chunk {
  if (content.length <= CHECKSUM_BYTES) damage('a chunk of compressed data is empty');
  const checksum = content.readUInt32LE(0);
  const payload = content.subarray(CHECKSUM_BYTES);
  const [bytes, headBytes] = isCompressed ? blockLength(payload) : [payload.length, 0];
  if (bytes > CHUNK_BYTES_MAX) damage(`a chunk has ${bytes} bytes, more than ${CHUNK_BYTES_MAX}`);
  return { isCompressed, payload: payload.subarray(headBytes), bytes, checksum };
}

/** Little-endian base 128. */
function blockLength(payload: Buffer): readonly [length: number, headBytes: number] {
  let length = 0;
  for (let at = 0; at < Math.min(3, payload.length); at++) {
    const byte = payload[at] ?? 0;
    length |= (byte & 0x7f) << (7 * at);
    if (byte < 0x80) return [length, at + 1];
  }
  return damage(`a chunk has no length up to ${CHUNK_BYTES_MAX}`);
}

/** Below, a loop is faster than a call. */
const SHORT_COPY = 24;

/** Elements: literals, and copies with offsets of 11, 16 or 32 bits. @throws EraDamage */
function readBlock(source: Buffer, target: Buffer): void {
  let write = 0;
  for (let at = 0; at < source.length; ) {
    const tag = source[at++] ?? 0;
    const kind = tag & 3;
    const lengthBytes = kind === 0 ? Math.max(0, (tag >>> 2) - 59) : (OFFSET_BYTES[kind - 1] ?? 0);
    if (at + lengthBytes > source.length) damage('compressed data ends inside an element');
    let number = 0;
    for (let byte = lengthBytes - 1; byte >= 0; byte--) number = number * 256 + (source[at + byte] ?? 0);
    at += lengthBytes;
    if (kind === 0) {
      const length = 1 + (lengthBytes === 0 ? tag >>> 2 : number);
      if (at + length > source.length || write + length > target.length) damage('a literal is too long');
      if (length > SHORT_COPY) source.copy(target, write, at, at + length);
      else for (let byte = 0; byte < length; byte++) target[write + byte] = source[at + byte] ?? 0;
      at += length;
      write += length;
    } else {
      const offset = kind === 1 ? ((tag >>> 5) << 8) | number : number;
      const length = kind === 1 ? 4 + ((tag >>> 2) & 7) : 1 + (tag >>> 2);
      if (offset === 0 || offset > write || write + length > target.length) damage('a copy is out of bounds');
      if (length > SHORT_COPY && offset >= length)
        target.copyWithin(write, write - offset, write - offset + length);
      else
        for (let end = write + length, byte = write; byte < end; byte++)
          target[byte] = target[byte - offset] ?? 0;
      write += length;
    }
  }
  if (write !== target.length) damage('compressed data is shorter than its length');
}

const OFFSET_BYTES = [1, 2, 4] as const;

const CRC_POLYNOMIAL = 0x82f6_3b78;
const CRC_MASK = 0xa282_ead8;
/** Four tables, for four bytes at a time. */
const CRC_TABLES = new Int32Array(4 * 256);
for (let byte = 0; byte < CRC_TABLES.length; byte++) {
  let crc = byte < 256 ? byte : (CRC_TABLES[byte - 256] ?? 0);
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ CRC_POLYNOMIAL : crc >>> 1;
  CRC_TABLES[byte] = crc;
}

export function maskedCrc32c(bytes: Uint8Array): number {
  const table = (place: number): number => CRC_TABLES[place] ?? 0;
  let crc = -1;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    crc ^=
      (bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16) |
      ((bytes[at + 3] ?? 0) << 24);
    crc =
      table(768 + (crc & 0xff)) ^
      table(512 + ((crc >>> 8) & 0xff)) ^
      table(256 + ((crc >>> 16) & 0xff)) ^
      table(crc >>> 24);
  }
  for (; at < bytes.length; at++) crc = table((crc ^ (bytes[at] ?? 0)) & 0xff) ^ (crc >>> 8);
  const whole = ~crc >>> 0;
  return (((whole >>> 15) | (whole << 17)) + CRC_MASK) >>> 0;
}
