import { type Hash, type Hex, keccak256Hex, parseHash } from '@chainstead/core';
import { hexOf, quantityOf, type RlpItem, readRlpList } from '../rlp/read-rlp.ts';
import { OPTIONAL_FIELDS, REQUIRED_FIELDS } from './header-hash.ts';

interface DecodedHeader {
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

export interface ReadHeader {
  readonly hash: Hash;
  readonly parentHash: Hash;
  readonly number: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly stateRoot: Hash;
  readonly receiptsRoot: Hash;
}

/** Yellow paper, section 4.3. */
const PLACES = { parentHash: 0, stateRoot: 3, receiptsRoot: 5, number: 8, timestamp: 11 };
const FIELDS_MIN = 15;
const HASH_BYTES = 32;
const NUMBER_BYTES_MAX = 6;

export function readHeader(encoded: Buffer): ReadHeader | null {
  const fields = readRlpList(encoded);
  if (fields === null || fields.length < FIELDS_MIN || fields.some(({ isList }) => isList)) return null;
  const parentHash = hashOf(fields[PLACES.parentHash]);
  const stateRoot = hashOf(fields[PLACES.stateRoot]);
  const receiptsRoot = hashOf(fields[PLACES.receiptsRoot]);
  const number = numberOf(fields[PLACES.number]);
  const timestamp = numberOf(fields[PLACES.timestamp]);
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
