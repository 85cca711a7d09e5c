import { isQuantity, toQuantity } from '@chainstead/core';
import { listText, stringText } from '../rlp/rlp-text.ts';

export type TransactionJson = Readonly<Record<string, unknown>>;

/** A member is missing or does not have the form of the type. */
export class UnknownFormError extends Error {}

/** Digits (rlp-text.ts), checked only by {@link fieldBytes}. */
export type FieldText = string;

const PREFIX = '0x';
const ZERO = '0'.charCodeAt(0);

/** @throws UnknownFormError */
export function fieldBytes(text: FieldText): Buffer {
  const decoded = Buffer.from(text, 'hex');
  if (decoded.length * 2 !== text.length) throw new UnknownFormError();
  return decoded;
}

/** `0x` is zero. @throws UnknownFormError */
export function integer(value: unknown): FieldText {
  if (typeof value === 'number' && isQuantity(value)) return integer(toQuantity(value));
  if (typeof value !== 'string' || !value.startsWith(PREFIX)) throw new UnknownFormError();
  let first = PREFIX.length;
  while (value.charCodeAt(first) === ZERO) first++;
  const digits = value.slice(first);
  return stringText(digits.length % 2 === 0 ? digits : `0${digits}`);
}

/** @throws UnknownFormError */
export function bytes(value: unknown): FieldText {
  if (typeof value !== 'string' || value.length % 2 !== 0 || !value.startsWith(PREFIX))
    throw new UnknownFormError();
  return stringText(value.slice(PREFIX.length));
}

export function nothing(): FieldText {
  return stringText('');
}

/** Empty for a creation. @throws UnknownFormError */
export function recipient(value: unknown): FieldText {
  return value === null || value === undefined ? nothing() : bytes(value);
}

/** @throws UnknownFormError */
export function eachText(values: unknown, textOf: (value: unknown) => FieldText): FieldText {
  if (!Array.isArray(values)) throw new UnknownFormError();
  let items = '';
  for (const value of values) items += textOf(value);
  return listText(items);
}

/** EIP-2930. @throws UnknownFormError */
export function accessList(value: unknown): FieldText {
  return eachText(value, (entry) => {
    const { address, storageKeys } = object(entry);
    return listText(bytes(address) + eachText(storageKeys, bytes));
  });
}

/** @throws UnknownFormError */
export function object(value: unknown): TransactionJson {
  if (typeof value !== 'object' || value === null) throw new UnknownFormError();
  return value as TransactionJson;
}
