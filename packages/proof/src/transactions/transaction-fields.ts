import { isQuantity, toQuantity } from '@chainstead/core';
import { listText, stringText } from '../rlp/rlp-text.ts';

/** A transaction's JSON from a node. */
export type TransactionJson = Readonly<Record<string, unknown>>;

/** A member is missing or does not have the form of the type. */
export class UnknownFormError extends Error {}

/** RLP as hexadecimal digits (rlp-text.ts). They are only checked when all of it becomes bytes ({@link fieldBytes}). */
export type FieldText = string;

const PREFIX = '0x';
const ZERO = '0'.charCodeAt(0);

/** Returns the bytes of the joined fields. @throws UnknownFormError if a field is not hexadecimal */
export function fieldBytes(text: FieldText): Buffer {
  const decoded = Buffer.from(text, 'hex');
  // Decoding stops at the first character that is not a digit.
  if (decoded.length * 2 !== text.length) throw new UnknownFormError();
  return decoded;
}

/** Returns a quantity in RLP; `0x` is zero. @throws UnknownFormError */
export function integer(value: unknown): FieldText {
  if (typeof value === 'number' && isQuantity(value)) return integer(toQuantity(value));
  if (typeof value !== 'string' || !value.startsWith(PREFIX)) throw new UnknownFormError();
  let first = PREFIX.length;
  while (value.charCodeAt(first) === ZERO) first++;
  const digits = value.slice(first);
  return stringText(digits.length % 2 === 0 ? digits : `0${digits}`);
}

/** Returns bytes in RLP. @throws UnknownFormError */
export function bytes(value: unknown): FieldText {
  if (typeof value !== 'string' || value.length % 2 !== 0 || !value.startsWith(PREFIX)) throw new UnknownFormError();
  return stringText(value.slice(PREFIX.length));
}

/** Returns the empty string in RLP. */
export function nothing(): FieldText {
  return stringText('');
}

/** Returns the recipient; empty for a contract creation. @throws UnknownFormError */
export function recipient(value: unknown): FieldText {
  return value === null || value === undefined ? nothing() : bytes(value);
}

/** Returns a list of the encoded values. @throws UnknownFormError */
export function eachText(values: unknown, textOf: (value: unknown) => FieldText): FieldText {
  if (!Array.isArray(values)) throw new UnknownFormError();
  let items = '';
  for (const value of values) items += textOf(value);
  return listText(items);
}

/** Encodes an EIP-2930 access list. @throws UnknownFormError */
export function accessList(value: unknown): FieldText {
  const entryText = (entry: unknown): FieldText => {
    const { address, storageKeys } = object(entry);
    return listText(bytes(address) + eachText(storageKeys, bytes));
  };
  return eachText(value, entryText);
}

/** Encodes an EIP-7702 authorization. @throws UnknownFormError */
export function authorization(value: unknown): FieldText {
  const one = object(value);
  return listText(integer(one.chainId) + bytes(one.address) + integer(one.nonce) + typedSignature(one));
}

/** Encodes the signature of all types except legacy. @throws UnknownFormError */
export function typedSignature(one: TransactionJson): FieldText {
  return integer(one.yParity ?? one.v) + integer(one.r) + integer(one.s);
}

function object(value: unknown): TransactionJson {
  if (typeof value !== 'object' || value === null) throw new UnknownFormError();
  return value as TransactionJson;
}
