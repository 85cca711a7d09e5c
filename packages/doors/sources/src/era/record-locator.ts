import type { FileHandle } from 'node:fs/promises';
import { damage } from './era-damage.ts';
import type { EraFileFacts } from './era-folder.ts';
import { type EraPart, readOffsets } from './era-index.ts';
import {
  createRecordReader,
  RECORD_HEADER_BYTES,
  RECORD_TYPES,
  type RecordHead,
  type RecordReader,
} from './record-reader.ts';

export interface RecordLocator {
  /** Null: the file has no such part. @throws EraDamage */
  find(number: number, part: EraPart): Promise<LocatedRecord | null>;
}

export interface LocatedRecord {
  readonly type: number;
  /** @throws EraDamage */
  data(): Promise<Buffer>;
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

export async function createRecordLocator(
  handle: FileHandle,
  { bytes, format, index }: EraFileFacts,
  windowBytes: number,
): Promise<RecordLocator> {
  const isGrouped = format === 'ere';
  // In ere files, equal parts are neighbours.
  const readers = new Map<EraPart, RecordReader>();
  function readerOf(part: EraPart): RecordReader {
    const group = isGrouped ? part : 'header';
    const reader = readers.get(group) ?? createRecordReader(handle, bytes, windowBytes);
    readers.set(group, reader);
    return reader;
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
    async find(number, part) {
      const head = await headOf(number, part);
      return head === null ? null : { type: head.type, data: () => readerOf(part).dataOf(head) };
    },
  };
}
