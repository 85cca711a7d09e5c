import { isQuantity, toQuantity } from '@chainstead/core';
import { listText, stringText } from './rlp-text.ts';

/** A transaction's JSON as nodes answer it. */
export type TransactionJson = Readonly<Record<string, unknown>>;

/** Something in the JSON is missing or of another form than the type has. */
export class UnknownFormError extends Error {}

/** RLP as hexadecimal digits (rlp-text.ts). Whether they are digits is seen when all of it becomes bytes ({@link fieldBytes}). */
export type FieldText = string;

const PREFIX = '0x';
const ZERO = '0'.charCodeAt(0);

/** The bytes of what was put together from fields. @throws UnknownFormError where one held something else than digits */
export function fieldBytes(text: FieldText): Buffer {
  const decoded = Buffer.from(text, 'hex');
  // It stops at what is no digit.
  if (decoded.length * 2 !== text.length) throw new UnknownFormError();
  return decoded;
}

/** A quantity in RLP; `0x` is zero. @throws UnknownFormError */
export function integer(value: unknown): FieldText {
  if (typeof value === 'number' && isQuantity(value)) return integer(toQuantity(value));
  if (typeof value !== 'string' || !value.startsWith(PREFIX)) throw new UnknownFormError();
  let first = PREFIX.length;
  while (value.charCodeAt(first) === ZERO) first++;
  const digits = value.slice(first);
  return stringText(digits.length % 2 === 0 ? digits : `0${digits}`);
}

/** Bytes in RLP. @throws UnknownFormError */
export function bytes(value: unknown): FieldText {
  if (typeof value !== 'string' || value.length % 2 !== 0 || !value.startsWith(PREFIX)) throw new UnknownFormError();
  return stringText(value.slice(PREFIX.length));
}

/** No bytes, in RLP. */
export function nothing(): FieldText {
  return stringText('');
}

/** A contract's creation has none. @throws UnknownFormError */
export function recipient(value: unknown): FieldText {
  return value === null || value === undefined ? nothing() : bytes(value);
}

/** A list of what becomes of each of the values. @throws UnknownFormError */
export function eachText(values: unknown, textOf: (value: unknown) => FieldText): FieldText {
  if (!Array.isArray(values)) throw new UnknownFormError();
  let items = '';
  for (const value of values) items += textOf(value);
  return listText(items);
}

/** EIP-2930. @throws UnknownFormError */
export function accessList(value: unknown): FieldText {
  const entryText = (entry: unknown): FieldText => {
    const { address, storageKeys } = object(entry);
    return listText(bytes(address) + eachText(storageKeys, bytes));
  };
  return eachText(value, entryText);
}

/** EIP-7702. @throws UnknownFormError */
export function authorization(value: unknown): FieldText {
  const one = object(value);
  return listText(integer(one.chainId) + bytes(one.address) + integer(one.nonce) + typedSignature(one));
}

/** As all types but legacy have it. @throws UnknownFormError */
export function typedSignature(one: TransactionJson): FieldText {
  return integer(one.yParity ?? one.v) + integer(one.r) + integer(one.s);
}

function object(value: unknown): TransactionJson {
  if (typeof value !== 'object' || value === null) throw new UnknownFormError();
  return value as TransactionJson;
}
