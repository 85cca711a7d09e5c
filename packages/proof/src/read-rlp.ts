import { LIST_BASE, SHORT_PAYLOAD_MAX, STRING_BASE } from './rlp.ts';

/** One item of an RLP list, as a part of the bytes that it was read from. */
export interface RlpItem {
  readonly isList: boolean;
  /** Header and payload. */
  readonly encoded: Buffer;
  readonly payload: Buffer;
}

/** Lengths of up to 16 MB: nothing that is read here is as long. */
const LENGTH_BYTES_MAX = 3;

/**
 * The items of a list that is all of `bytes`; null for what is no list, not the one encoding of it that the yellow paper allows, or followed by
 * anything. Lists inside are not looked into.
 */
export function readRlpList(bytes: Buffer): readonly RlpItem[] | null {
  const list = readRlpItem(bytes);
  return list?.isList === true ? itemsOf(list.payload) : null;
}

/** The item that is all of `bytes`; null as {@link readRlpList}. */
export function readRlpItem(bytes: Buffer): RlpItem | null {
  const item = itemAt(bytes, 0);
  return item?.encoded.length === bytes.length ? item : null;
}

function itemsOf(payload: Buffer): readonly RlpItem[] | null {
  const items: RlpItem[] = [];
  for (let at = 0; at < payload.length; ) {
    const item = itemAt(payload, at);
    if (item === null) return null;
    items.push(item);
    at += item.encoded.length;
  }
  return items;
}

function itemAt(bytes: Buffer, start: number): RlpItem | null {
  const first = bytes[start];
  if (first === undefined) return null;
  if (first < STRING_BASE) {
    const byte = bytes.subarray(start, start + 1);
    return { isList: false, encoded: byte, payload: byte };
  }
  const isList = first >= LIST_BASE;
  const told = first - (isList ? LIST_BASE : STRING_BASE);
  const lengthBytes = Math.max(0, told - SHORT_PAYLOAD_MAX);
  const length = lengthBytes === 0 ? told : longLength(bytes, start + 1, lengthBytes);
  if (length === null) return null;
  const payloadStart = start + 1 + lengthBytes;
  const end = payloadStart + length;
  if (end > bytes.length) return null;
  const payload = bytes.subarray(payloadStart, end);
  // A single byte below 0x80 stands for itself.
  if (!isList && length === 1 && (payload[0] ?? 0) < STRING_BASE) return null;
  return { isList, encoded: bytes.subarray(start, end), payload };
}

/** Null where it would have fitted into less. */
function longLength(bytes: Buffer, at: number, lengthBytes: number): number | null {
  if (lengthBytes > LENGTH_BYTES_MAX || at + lengthBytes > bytes.length || bytes[at] === 0) return null;
  const length = bytes.readUIntBE(at, lengthBytes);
  return length <= SHORT_PAYLOAD_MAX ? null : length;
}
