import { compressFramed } from '@chainstead/testkit';
import { RECORD_TYPES } from '../era-damage.ts';
import { decompress } from '../snappy.ts';

/** A record with its content, decompressed if it has a checksum. */
export interface EditableRecord {
  readonly type: number;
  content: Buffer;
}

const PLAIN_TYPES: readonly number[] = [
  ...[RECORD_TYPES.version, RECORD_TYPES.difficulty, RECORD_TYPES.accumulator],
  ...[RECORD_TYPES.blockIndex, RECORD_TYPES.dynamicIndex],
];
const CONTENT_BYTES_MAX = 10_000_000;

/** Writes a file again with changed contents; its index leads to the new places. */
export function editRecords(file: Buffer, edit: (records: readonly EditableRecord[]) => void): Buffer {
  const places: number[] = [];
  const records: EditableRecord[] = [];
  for (let at = 0; at < file.length; ) {
    const end = at + 8 + file.readUInt32LE(at + 2);
    const type = file.readUInt16LE(at);
    const data = file.subarray(at + 8, end);
    places.push(at);
    records.push({
      type,
      content: PLAIN_TYPES.includes(type) ? Buffer.from(data) : decompress(data, CONTENT_BYTES_MAX),
    });
    at = end;
  }
  edit(records);
  const encoded = records.map(({ type, content }) =>
    PLAIN_TYPES.includes(type) ? content : compressFramed(content),
  );
  const moved = new Map<number, number>();
  let start = 0;
  for (const [index, data] of encoded.entries()) {
    moved.set(places[index] ?? 0, start);
    if (index < encoded.length - 1) start += 8 + data.length;
  }
  const index = encoded.at(-1) ?? Buffer.alloc(0);
  const before = places.at(-1) ?? 0;
  for (let at = 8; at < index.length - 8; at += 8) {
    const place = moved.get(before + Number(index.readBigInt64LE(at)));
    if (place !== undefined) index.writeBigInt64LE(BigInt(place - start), at);
  }
  return Buffer.concat(
    encoded.flatMap((data, place) => {
      const head = Buffer.alloc(8);
      head.writeUInt16LE(records[place]?.type ?? 0, 0);
      head.writeUInt32LE(data.length, 2);
      return [head, data];
    }),
  );
}
