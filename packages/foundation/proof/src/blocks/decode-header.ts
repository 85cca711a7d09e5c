import type { Hex } from '@chainstead/core';
import { readRlpList } from '../rlp/read-rlp.ts';
import { hexOf, quantityOf } from '../rlp/rlp-values.ts';
import { OPTIONAL_FIELDS, REQUIRED_FIELDS } from './header-hash.ts';

export interface DecodedHeader {
  /** As in `eth_getBlockByNumber`, without `hash`. */
  readonly raw: Readonly<Record<string, Hex>>;
  /** Fields of a later fork, without a name. */
  readonly unknownFields: number;
}

const FIELDS = [...REQUIRED_FIELDS, ...OPTIONAL_FIELDS];

/** The reverse of `encodeHeader`. Null: not a header of Ethereum. */
export function decodeHeader(encoded: Buffer): DecodedHeader | null {
  const items = readRlpList(encoded);
  if (items === null || items.length < REQUIRED_FIELDS.length) return null;
  const raw: Record<string, Hex> = {};
  for (const [index, [name, kind]] of FIELDS.entries()) {
    const item = items[index];
    if (item === undefined) break;
    const value = kind === 'bytes' ? hexOf(item) : quantityOf(item);
    if (value === null) return null;
    raw[name] = value;
  }
  return { raw, unknownFields: Math.max(0, items.length - FIELDS.length) };
}
