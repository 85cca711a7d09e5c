export type UnixfsBlock =
  /** A whole file in this one block. */
  | { readonly kind: 'file'; readonly content: Uint8Array }
  /** The root of a file in several blocks. */
  | { readonly kind: 'file-root' }
  | { readonly kind: 'other' };

/** Null if it is not a dag-pb block with a UnixFS node. Never throws. */
export function readUnixfsBlock(block: Uint8Array): UnixfsBlock | null {
  const node = readFields(block);
  const data = node?.find(({ number }) => number === NODE_DATA)?.bytes;
  const fields = data == null ? null : readFields(data);
  if (node === null || fields === null) return null;
  const type = fields.find(({ number }) => number === FILE_TYPE)?.value;
  if (type !== TYPE_RAW && type !== TYPE_FILE) return type === undefined ? null : { kind: 'other' };
  if (node.some(({ number }) => number === NODE_LINKS)) return { kind: 'file-root' };
  return { kind: 'file', content: fields.find(({ number }) => number === FILE_DATA)?.bytes ?? new Uint8Array() };
}

/** As common implementations write a file of one block. */
export function writeUnixfsFile(content: Uint8Array): Uint8Array {
  const data = content.length === 0 ? [] : [tag(FILE_DATA, LENGTH_DELIMITED), ...varint(content.length), content];
  const file = join([
    tag(FILE_TYPE, VARINT),
    TYPE_FILE,
    ...data,
    tag(FILE_SIZE, VARINT),
    ...varint(content.length),
  ]);
  return join([tag(NODE_DATA, LENGTH_DELIMITED), ...varint(file.length), file]);
}

const NODE_DATA = 1;
const NODE_LINKS = 2;
const FILE_TYPE = 1;
const FILE_DATA = 2;
const FILE_SIZE = 3;
const TYPE_RAW = 0;
const TYPE_FILE = 2;
const VARINT = 0;
const LENGTH_DELIMITED = 2;

interface Field {
  readonly number: number;
  readonly value: number | null;
  readonly bytes: Uint8Array | null;
}

function readFields(message: Uint8Array): Field[] | null {
  const fields: Field[] = [];
  for (let at = 0; at < message.length; ) {
    const head = readVarint(message, at);
    const value = head === null ? null : readVarint(message, head.next);
    if (head === null || value === null) return null;
    const number = Math.floor(head.value / 8);
    const wireType = head.value % 8;
    if (wireType === VARINT) {
      fields.push({ number, value: value.value, bytes: null });
      at = value.next;
    } else if (wireType === LENGTH_DELIMITED && value.value <= message.length - value.next) {
      at = value.next + value.value;
      fields.push({ number, value: null, bytes: message.subarray(value.next, at) });
    } else return null;
  }
  return fields;
}

function readVarint(
  message: Uint8Array,
  start: number,
): { readonly value: number; readonly next: number } | null {
  let value = 0;
  for (
    let at = start, weight = 1;
    at < message.length && weight <= Number.MAX_SAFE_INTEGER;
    at++, weight *= 128
  ) {
    const byte = message[at] ?? 0;
    value += (byte % 128) * weight;
    if (byte < 128) return { value, next: at + 1 };
  }
  return null;
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function tag(number: number, wireType: number): number {
  return number * 8 + wireType;
}

function join(pieces: readonly (number | Uint8Array)[]): Uint8Array {
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'number' ? Buffer.of(piece) : piece)));
}
