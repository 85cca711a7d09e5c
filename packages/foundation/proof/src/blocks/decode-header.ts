import { type Hash, type Hex, keccak256Hex, parseHash } from '@chainstead/core';
import { hexOf, quantityOf, type RlpItem, readRlpList } from '../rlp/read-rlp.ts';
import { HEADER_FIELDS, HEADER_INTEGERS, REQUIRED_FIELDS } from './header-hash.ts';

interface DecodedHeader {
  /** As in `eth_getBlockByNumber`, without `hash`. */
  readonly raw: Readonly<Record<string, Hex>>;
  /** Fields of a later fork, without a name. */
  readonly unknownFields: number;
}

/** The reverse of `encodeHeader`. Null: not a header of Ethereum. */
export function decodeHeader(encoded: Buffer): DecodedHeader | null {
  const items = readRlpList(encoded);
  if (items === null || items.length < REQUIRED_FIELDS.length) return null;
  const raw: Record<string, Hex> = {};
  for (const [index, name] of HEADER_FIELDS.entries()) {
    const item = items[index];
    if (item === undefined) break;
    const value = HEADER_INTEGERS.has(name) ? quantityOf(item) : hexOf(item);
    if (value === null) return null;
    raw[name] = value;
  }
  return { raw, unknownFields: Math.max(0, items.length - HEADER_FIELDS.length) };
}

export interface ReadHeader {
  readonly hash: Hash;
  readonly parentHash: Hash;
  readonly number: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly stateRoot: Hash;
  readonly receiptsRoot: Hash;
}

const HASH_BYTES = 32;
const NUMBER_BYTES_MAX = 6;

export function readHeader(encoded: Buffer): ReadHeader | null {
  const fields = readRlpList(encoded);
  if (fields === null || fields.length < REQUIRED_FIELDS.length || fields.some(({ isList }) => isList))
    return null;
  const field = (name: string) => fields[HEADER_FIELDS.indexOf(name)];
  const parentHash = hashOf(field('parentHash'));
  const stateRoot = hashOf(field('stateRoot'));
  const receiptsRoot = hashOf(field('receiptsRoot'));
  const number = numberOf(field('number'));
  const timestamp = numberOf(field('timestamp'));
  if (parentHash === null || stateRoot === null || receiptsRoot === null || number === null || timestamp === null)
    return null;
  return { hash: keccak256Hex(encoded), parentHash, number, timestamp, stateRoot, receiptsRoot };
}

function hashOf(item: RlpItem | undefined): Hash | null {
  return item?.payload.length === HASH_BYTES ? parseHash(`0x${item.payload.toString('hex')}`) : null;
}

function numberOf(item: RlpItem | undefined): number | null {
  if (item === undefined || item.payload.length > NUMBER_BYTES_MAX || item.payload[0] === 0) return null;
  return item.payload.length === 0 ? 0 : item.payload.readUIntBE(0, item.payload.length);
}
