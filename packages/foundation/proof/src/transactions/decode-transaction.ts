import { toQuantity } from '@chainstead/core';
import { eachOf, hexOf, quantityOf, type RlpItem, readRlpList } from '../rlp/read-rlp.ts';
import { LIST_BASE } from '../rlp/rlp.ts';
import type { TransactionJson } from './transaction-fields.ts';

type Reader = (item: RlpItem) => unknown;
type Members = readonly (readonly [name: string, read: Reader])[];

const ADDRESS_BYTES = 20;
const HASH_BYTES = 32;
const EIP155_FIRST_V = 35n;

const bytes: Reader = (item) => hexOf(item);
const hash = (item: RlpItem) => hexOf(item, HASH_BYTES);
/** A creation has none. */
const recipient: Reader = (item) =>
  item.payload.length === 0 && !item.isList ? CREATION : hexOf(item, ADDRESS_BYTES);
const CREATION = Symbol('creation');

const accessList: Reader = (list) =>
  eachOf(list, (entry) => {
    const [address, keys] = (entry.isList ? readRlpList(entry.encoded) : null) ?? [];
    const known = { address: hexOf(address, ADDRESS_BYTES), storageKeys: eachOf(keys, hash) };
    return known.address === null || known.storageKeys === null ? null : known;
  });

const SIGNATURE: Members = [
  ['yParity', quantityOf],
  ['r', quantityOf],
  ['s', quantityOf],
];
const AUTHORIZATION: Members = [
  ['chainId', quantityOf],
  ['address', (item) => hexOf(item, ADDRESS_BYTES)],
  ['nonce', quantityOf],
  ...SIGNATURE,
];
const CALL: Members = [
  ['gas', quantityOf],
  ['to', recipient],
  ['value', quantityOf],
  ['input', bytes],
];
const FEE_MARKET: Members = [
  ['chainId', quantityOf],
  ['nonce', quantityOf],
  ['maxPriorityFeePerGas', quantityOf],
  ['maxFeePerGas', quantityOf],
  ...CALL,
  ['accessList', accessList],
];
const LEGACY: Members = [
  ['nonce', quantityOf],
  ['gasPrice', quantityOf],
  ...CALL,
  ['v', quantityOf],
  ['r', quantityOf],
  ['s', quantityOf],
];
const TYPED: ReadonlyMap<number, Members> = new Map([
  [
    1,
    [
      ['chainId', quantityOf],
      ['nonce', quantityOf],
      ['gasPrice', quantityOf],
      ...CALL,
      ['accessList', accessList],
      ...SIGNATURE,
    ],
  ],
  [2, [...FEE_MARKET, ...SIGNATURE]],
  [
    3,
    [
      ...FEE_MARKET,
      ['maxFeePerBlobGas', quantityOf],
      ['blobVersionedHashes', (list) => eachOf(list, hash)],
      ...SIGNATURE,
    ],
  ],
  [
    4,
    [
      ...FEE_MARKET,
      ['authorizationList', (list) => eachOf(list, (entry) => membersOf(entry.encoded, AUTHORIZATION))],
      ...SIGNATURE,
    ],
  ],
]);

/** The reverse of `encodeTransaction` for types 0 to 4; no place, hash or sender. Null: another type or form. */
export function decodeTransaction(encoded: Buffer): TransactionJson | null {
  const type = envelopeType(encoded);
  const members = type === 0 ? LEGACY : TYPED.get(type ?? -1);
  if (type === null || members === undefined) return null;
  const read = membersOf(type === 0 ? encoded : encoded.subarray(1), members);
  if (read === null) return null;
  if (type !== 0) return { ...read, type: toQuantity(type), v: read.yParity };
  const v = BigInt(String(read.v));
  const chain = v < EIP155_FIRST_V ? {} : { chainId: toQuantity((v - EIP155_FIRST_V) / 2n) };
  return { ...read, type: '0x0', ...chain };
}

/** EIP-2718; null: empty. */
export function envelopeType(encoded: Buffer): number | null {
  const [first] = encoded;
  if (first === undefined) return null;
  return first < LIST_BASE ? first : 0;
}

function membersOf(encoded: Buffer, members: Members): Record<string, unknown> | null {
  const items = readRlpList(encoded);
  if (items?.length !== members.length) return null;
  const json: Record<string, unknown> = {};
  for (const [index, [name, read]] of members.entries()) {
    const item = items[index];
    const value = item === undefined ? null : read(item);
    if (value === null) return null;
    json[name] = value === CREATION ? null : value;
  }
  return json;
}
