import { type Hash, keccak256Hex } from '@chainstead/core';
import { encodeList, encodeString, integerBytes } from '../rlp/rlp.ts';
import { hexToBytes } from '../rlp/rlp-text.ts';

type RawHeader = Readonly<Record<string, unknown>>;

/** In RLP order (yellow paper, 4.3). Forks append fields. */
export const HEADER_FIELDS: readonly string[] = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
  'baseFeePerGas', // EIP-1559
  'withdrawalsRoot', // EIP-4895
  'blobGasUsed', // EIP-4844
  'excessBlobGas',
  'parentBeaconBlockRoot', // EIP-4788
  'requestsHash', // EIP-7685
  'blockAccessListHash', // EIP-7928
  'slotNumber', // EIP-7843
];
/** Ethereum's first block has these alone. */
export const REQUIRED_FIELDS: readonly string[] = HEADER_FIELDS.slice(0, 15);
export const HEADER_INTEGERS: ReadonlySet<string> = new Set([
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'baseFeePerGas',
  'blobGasUsed',
  'excessBlobGas',
  'slotNumber',
]);

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...HEADER_FIELDS,
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
  for (const [index, name] of HEADER_FIELDS.entries()) {
    const value = raw[name];
    if (typeof value === 'string')
      fields.push(encodeString(HEADER_INTEGERS.has(name) ? integerBytes(BigInt(value)) : hexToBytes(value)));
    else if (index < REQUIRED_FIELDS.length) return null;
  }
  return fields;
}
