import { type Hash, keccak256Hex } from '@chainstead/core';
import { encodeList, encodeString, integerBytes } from '../rlp/rlp.ts';
import { hexToBytes } from '../rlp/rlp-text.ts';

type RawHeader = Readonly<Record<string, unknown>>;
export type HeaderField = readonly [name: string, kind: 'bytes' | 'integer'];

/** Ethereum's first block, in RLP order (yellow paper, 4.3). */
export const REQUIRED_FIELDS: readonly HeaderField[] = [
  ['parentHash', 'bytes'],
  ['sha3Uncles', 'bytes'],
  ['miner', 'bytes'],
  ['stateRoot', 'bytes'],
  ['transactionsRoot', 'bytes'],
  ['receiptsRoot', 'bytes'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'integer'],
  ['number', 'integer'],
  ['gasLimit', 'integer'],
  ['gasUsed', 'integer'],
  ['timestamp', 'integer'],
  ['extraData', 'bytes'],
  ['mixHash', 'bytes'],
  ['nonce', 'bytes'],
];

export const OPTIONAL_FIELDS: readonly HeaderField[] = [
  ['baseFeePerGas', 'integer'], // EIP-1559
  ['withdrawalsRoot', 'bytes'], // EIP-4895
  ['blobGasUsed', 'integer'], // EIP-4844
  ['excessBlobGas', 'integer'],
  ['parentBeaconBlockRoot', 'bytes'], // EIP-4788
  ['requestsHash', 'bytes'], // EIP-7685
  ['blockAccessListHash', 'bytes'], // EIP-7928
  ['slotNumber', 'integer'], // EIP-7843
];

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...[...REQUIRED_FIELDS, ...OPTIONAL_FIELDS].map(([name]) => name),
  ...['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals', 'author', 'sealFields'],
  ...['milliTimestamp', 'l1BlockNumber', 'sendCount', 'sendRoot'],
]);

/** Null if a required field is missing, as in converted recordings. @throws InvalidHexBytesError */
export function headerHash(raw: RawHeader): Hash | null {
  const fields = encodeFields(raw);
  return fields === null ? null : keccak256Hex(encodeList(fields));
}

export type HeaderHashCheck =
  | { readonly result: 'verified' }
  /** Missing fields, or fields of no known encoding. */
  | { readonly result: 'unchecked' }
  | { readonly result: 'mismatch'; readonly computed: Hash };

/** Tries shorter forms: nodes may show fields that a header lacks. @throws InvalidHexBytesError */
export function checkHeaderHash(raw: RawHeader, expected: Hash): HeaderHashCheck {
  const fields = encodeFields(raw);
  if (fields === null) return { result: 'unchecked' };
  if (formWithHash(fields, expected) !== null) return { result: 'verified' };
  const computed = keccak256Hex(encodeList(fields));
  const hasUnknownField = Object.keys(raw).some((name) => !KNOWN_FIELDS.has(name));
  return hasUnknownField ? { result: 'unchecked' } : { result: 'mismatch', computed };
}

/** Null if no known encoding hashes to `expected`. @throws InvalidHexBytesError */
export function encodeHeader(raw: RawHeader, expected: Hash): Buffer | null {
  const fields = encodeFields(raw);
  return fields === null ? null : formWithHash(fields, expected);
}

function formWithHash(fields: readonly Buffer[], expected: Hash): Buffer | null {
  for (let length = fields.length; length >= REQUIRED_FIELDS.length; length--) {
    const encoded = encodeList(fields.slice(0, length));
    if (keccak256Hex(encoded) === expected) return encoded;
  }
  return null;
}

function encodeFields(raw: RawHeader): Buffer[] | null {
  const fields: Buffer[] = [];
  for (const [name, kind] of REQUIRED_FIELDS) {
    const value = raw[name];
    if (typeof value !== 'string') return null;
    fields.push(encodeField(value, kind));
  }
  for (const [name, kind] of OPTIONAL_FIELDS) {
    const value = raw[name];
    if (typeof value === 'string') fields.push(encodeField(value, kind));
  }
  return fields;
}

function encodeField(value: string, kind: HeaderField[1]): Buffer {
  return encodeString(kind === 'bytes' ? hexToBytes(value) : integerBytes(BigInt(value)));
}
