import type { Chain } from '@chainstead/chains';
import { EPOCH_BLOCKS } from '@chainstead/proof';
import { damage, RECORD_HEADER_BYTES, RECORD_TYPES, type RecordReader } from './era-damage.ts';

export type EraPart = 'header' | 'body' | 'receipts' | 'difficulty' | 'proof';

/** The last record of a file. */
export interface EraIndex {
  readonly first: number;
  readonly count: number;
  readonly start: number;
  /** One row per block: era1 and e2hs have the header's place alone. */
  readonly columns: readonly EraPart[];
}

const NUMBER_BYTES = 8;
/** Parts that may follow header and body. */
const PART_OF_TYPE: ReadonlyMap<number, EraPart> = new Map([
  [RECORD_TYPES.receipts, 'receipts'],
  [RECORD_TYPES.slimReceipts, 'receipts'],
  [RECORD_TYPES.difficulty, 'difficulty'],
  [RECORD_TYPES.proof, 'proof'],
]);

/** @throws EraDamage */
export async function readEraIndex(
  reader: RecordReader,
  fileBytes: number,
  { epoch, format }: EraFileName,
): Promise<EraIndex> {
  const version = await reader.headAt(0);
  if (version.type !== RECORD_TYPES.version || version.end !== RECORD_HEADER_BYTES)
    damage('the file has no version record');
  const { count, columnCount, start } = await place(reader, fileBytes, format);
  const head = await reader.headAt(start);
  const type = format === 'ere' ? RECORD_TYPES.dynamicIndex : RECORD_TYPES.blockIndex;
  if (head.type !== type || head.end !== fileBytes) damage('the file does not end with its index');
  const first = numberAt(await reader.bytes(start + RECORD_HEADER_BYTES, NUMBER_BYTES), 0);
  if (Math.floor(first / EPOCH_BLOCKS) !== epoch || (first % EPOCH_BLOCKS) + count > EPOCH_BLOCKS)
    damage(`${count} blocks from ${first} are not in epoch ${epoch}`);
  const index = { first, count, start };
  return { ...index, columns: await columnsOf(reader, index, columnCount) };
}

/** Rows of absolute offsets, in the order of `columns`. @throws EraDamage */
export async function readOffsets(reader: RecordReader, index: EraIndex): Promise<Float64Array> {
  const { count, start, columns } = index;
  const rows = await reader.bytes(start + 2 * NUMBER_BYTES, NUMBER_BYTES * count * columns.length);
  const offsets = new Float64Array(count * columns.length);
  for (let cell = 0; cell < offsets.length; cell++) {
    const offset = start + numberAt(rows, NUMBER_BYTES * cell);
    const above = cell < columns.length ? 0 : (offsets[cell - columns.length] ?? 0);
    if (offset <= above || offset + RECORD_HEADER_BYTES > start)
      damage(`the index has no possible place of block ${index.first + Math.floor(cell / columns.length)}`);
    offsets[cell] = offset;
  }
  return offsets;
}

async function place(reader: RecordReader, fileBytes: number, format: EraFormat) {
  const isDynamic = format === 'ere';
  const tailBytes = isDynamic ? 2 * NUMBER_BYTES : NUMBER_BYTES;
  const tail = await reader.bytes(fileBytes - tailBytes, tailBytes);
  const count = numberAt(tail, tailBytes - NUMBER_BYTES);
  const columnCount = isDynamic ? numberAt(tail, 0) : 1;
  if (count < 1 || count > EPOCH_BLOCKS) damage(`the index counts ${count} blocks`);
  if (isDynamic && (columnCount < 2 || columnCount > 5))
    damage(`the index counts ${columnCount} parts per block`);
  const start = fileBytes - tailBytes - NUMBER_BYTES * (1 + count * columnCount) - RECORD_HEADER_BYTES;
  return { count, columnCount, start };
}

/** Their number alone has two meanings: the records decide. */
async function columnsOf(
  reader: RecordReader,
  index: Omit<EraIndex, 'columns'>,
  columnCount: number,
): Promise<readonly EraPart[]> {
  const columns: EraPart[] = ['header', 'body'].slice(0, columnCount) as EraPart[];
  const row = await reader.bytes(index.start + 2 * NUMBER_BYTES, NUMBER_BYTES * columnCount);
  for (let column = columns.length; column < columnCount; column++) {
    const { type } = await reader.headAt(index.start + numberAt(row, NUMBER_BYTES * column));
    const part = PART_OF_TYPE.get(type);
    if (part === undefined || columns.includes(part))
      return damage(`part ${column} of the index is of no known type`);
    columns.push(part);
  }
  return columns;
}

function numberAt(bytes: Buffer, at: number): number {
  return bytes.readInt32LE(at + 4) * 2 ** 32 + bytes.readUInt32LE(at);
}

export type EraFormat = 'era1' | 'ere' | 'e2hs';

export interface EraFileName {
  readonly network: string;
  readonly epoch: number;
  readonly format: EraFormat;
}

const NAME =
  /^(?<network>[a-z0-9_-]+)-(?<epoch>\d{5})-[0-9a-f]{8}(?:-noproofs)?(?:-noreceipts)?\.(?<format>era1|ere|e2hs)$/;

/** Names of public files. Other chains use their key. */
const NETWORKS: ReadonlyMap<number, string> = new Map([
  [1, 'mainnet'],
  [11_155_111, 'sepolia'],
  [17_000, 'holesky'],
  [560_048, 'hoodi'],
]);

/** Null: not an era file. */
export function parseEraFileName(name: string): EraFileName | null {
  const { network, epoch, format } = NAME.exec(name)?.groups ?? {};
  if (network === undefined || epoch === undefined || format === undefined) return null;
  return { network, epoch: Number(epoch), format: format as EraFormat };
}

export function eraNetwork({ id, key }: Pick<Chain, 'id' | 'key'>): string {
  return NETWORKS.get(id) ?? key;
}
