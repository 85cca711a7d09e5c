import type { Hex } from '@chainstead/core';
import { LIST_BASE, SHORT_PAYLOAD_MAX, STRING_BASE } from './rlp.ts';

export interface RlpItem {
  readonly isList: boolean;
  readonly encoded: Buffer;
  readonly payload: Buffer;
}

const LENGTH_BYTES_MAX = 3;
/** More than any block has transactions, receipts or storage keys. 16 MB of one-byte items would take gigabytes. */
const ITEMS_MAX = 100_000;

/** Null unless one canonical list (yellow paper) of at most 100,000 items. Nested lists are not checked. */
export function readRlpList(bytes: Buffer): readonly RlpItem[] | null {
  const list = readRlpItem(bytes);
  return list?.isList === true ? itemsOf(list.payload) : null;
}

/** Null unless it spans all of `bytes`. */
export function readRlpItem(bytes: Buffer): RlpItem | null {
  const item = itemAt(bytes, 0);
  return item?.encoded.length === bytes.length ? item : null;
}

function itemsOf(payload: Buffer): readonly RlpItem[] | null {
  const items: RlpItem[] = [];
  for (let at = 0; at < payload.length; ) {
    const item = itemAt(payload, at);
    if (item === null || items.length === ITEMS_MAX) return null;
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
  const reported = first - (isList ? LIST_BASE : STRING_BASE);
  const lengthBytes = Math.max(0, reported - SHORT_PAYLOAD_MAX);
  const length = lengthBytes === 0 ? reported : longLength(bytes, start + 1, lengthBytes);
  if (length === null) return null;
  const payloadStart = start + 1 + lengthBytes;
  const end = payloadStart + length;
  if (end > bytes.length) return null;
  const payload = bytes.subarray(payloadStart, end);
  // A single byte below 0x80 is encoded as itself.
  if (!isList && length === 1 && (payload[0] ?? 0) < STRING_BASE) return null;
  return { isList, encoded: bytes.subarray(start, end), payload };
}

function longLength(bytes: Buffer, at: number, lengthBytes: number): number | null {
  if (lengthBytes > LENGTH_BYTES_MAX || at + lengthBytes > bytes.length || bytes[at] === 0) return null;
  const length = bytes.readUIntBE(at, lengthBytes);
  return length <= SHORT_PAYLOAD_MAX ? null : length;
}

const INTEGER_BYTES_MAX = 32;

/** As JSON-RPC writes it. Null unless canonical: no leading zero. */
export function quantityOf(item: RlpItem | undefined): Hex | null {
  if (item === undefined || item.isList || item.payload[0] === 0 || item.payload.length > INTEGER_BYTES_MAX)
    return null;
  if (item.payload.length === 0) return '0x0';
  const digits = item.payload.toString('hex');
  return `0x${digits.startsWith('0') ? digits.slice(1) : digits}`;
}

export function hexOf(item: RlpItem | undefined, length?: number): Hex | null {
  if (item === undefined || item.isList || (length !== undefined && item.payload.length !== length)) return null;
  return `0x${item.payload.toString('hex')}`;
}

export function eachOf<T>(list: RlpItem | undefined, read: (item: RlpItem) => T | null): readonly T[] | null {
  const items = list?.isList === true ? readRlpList(list.encoded) : null;
  if (items === null) return null;
  const values: T[] = [];
  for (const item of items) {
    const value = read(item);
    if (value === null) return null;
    values.push(value);
  }
  return values;
}
