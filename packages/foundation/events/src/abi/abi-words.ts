/** 32-byte words in lower-case hexadecimal text. Never throws on hostile text. */
import { type Address, type Hex, ZERO_ADDRESS } from '@chainstead/core';

export const WORD_DIGITS = 64;

export const PREFIX_DIGITS = 2;
const ADDRESS_PADDING = '0'.repeat(24);
const NUMBER_PADDING = '0'.repeat(51);
const ZERO_DIGITS = '0'.repeat(40);

/** Null if no whole number of words. */
export function wordCount(data: string): number | null {
  const digits = data.length - PREFIX_DIGITS;
  return digits >= 0 && digits % WORD_DIGITS === 0 ? digits / WORD_DIGITS : null;
}

const wordStart = (index: number): number => PREFIX_DIGITS + index * WORD_DIGITS;

/** Null if its first twelve bytes are not zero, or the text ends before. */
export function addressAt(text: string | undefined, index = 0): Address | null {
  if (text === undefined) return null;
  const start = wordStart(index);
  if (text.length < start + WORD_DIGITS || !text.startsWith(ADDRESS_PADDING, start)) return null;
  const digits = text.slice(start + ADDRESS_PADDING.length, start + WORD_DIGITS);
  return digits === ZERO_DIGITS ? ZERO_ADDRESS : (`0x${digits}` as Address);
}

/** Below 2^52 a double is exact and twice as fast as a BigInt. */
export function decimalAt(text: string, index = 0): string {
  const start = wordStart(index);
  if (text.startsWith(NUMBER_PADDING, start))
    return String(Number.parseInt(text.slice(start + NUMBER_PADDING.length, start + WORD_DIGITS), 16));
  return bigIntAt(text, index).toString();
}

export function bigIntAt(text: string, index = 0): bigint {
  const start = wordStart(index);
  const isOneWord = index === 0 && text.length === PREFIX_DIGITS + WORD_DIGITS;
  return BigInt(isOneWord ? text : `0x${text.slice(start, start + WORD_DIGITS)}`);
}

/** Undefined if the data ends before. */
export function digitsStart(data: string, byte: number, length: number): number | undefined {
  const start = PREFIX_DIGITS + 2 * byte;
  return data.length < start + 2 * length ? undefined : start;
}

/** Undefined if the data ends before, or the number exceeds any data. */
export function lengthAt(data: string, byte: number): number | undefined {
  const start = PREFIX_DIGITS + 2 * byte;
  const end = start + WORD_DIGITS;
  if (data.length < end || !data.startsWith(NUMBER_PADDING, start)) return undefined;
  return Number.parseInt(data.slice(start + NUMBER_PADDING.length, end), 16);
}

const END = PREFIX_DIGITS + WORD_DIGITS;
const WORD = /^0x[0-9a-f]{64}$/;

/** First word in lower case. Old proxies return more than their ABI says. */
export function returnedWord(returned: string | null | undefined): Hex | null {
  const word = returned?.slice(0, END).toLowerCase() ?? '';
  return WORD.test(word) ? (word as Hex) : null;
}

export function returnedNumber(returned: string | null | undefined): bigint | null {
  const word = returnedWord(returned);
  return word === null ? null : BigInt(word);
}

interface SignedParameter {
  readonly type: string;
  readonly components?: readonly SignedParameter[];
}

/** `transfer(address,uint256)` (Solidity ABI specification). */
export function abiSignature(name: string, inputs: readonly SignedParameter[]): string {
  return `${name}(${inputs.map(canonicalType).join(',')})`;
}

function canonicalType({ type, components }: SignedParameter): string {
  return components === undefined
    ? type
    : `(${components.map(canonicalType).join(',')})${type.slice('tuple'.length)}`;
}
