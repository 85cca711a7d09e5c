/** Items as JSON-RPC values. Null: not of this form. */
import type { Hex } from '@chainstead/core';
import { type RlpItem, readRlpList } from './read-rlp.ts';

const INTEGER_BYTES_MAX = 32;

/** Canonical: no leading zero. */
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
