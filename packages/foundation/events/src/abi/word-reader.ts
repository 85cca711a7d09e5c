import type { Hex } from '@chainstead/core';
import { PREFIX_DIGITS, WORD_DIGITS } from './abi-words.ts';

/** Like viem: integers up to 48 bits are numbers. Lower-case digits. */
export type WordValue = bigint | number | boolean | Hex;

/** The text has all digits from `start` on; undefined: no value of the type. */
export type WordReader = (text: string, start: number) => WordValue | undefined;

/** Null if the type does not fit, or is not read (`fixed`). */
export function wordReader(type: string): WordReader | null {
  const [, family, size] = /^(uint|int|bytes|address|bool|function)(\d*)$/.exec(type) ?? [];
  switch (family) {
    case 'uint':
    case 'int': {
      const bits = size === '' ? WORD_BITS : Number(size);
      if (bits === 0 || bits % 8 !== 0 || bits > WORD_BITS) return null;
      return family === 'uint' ? unsigned(bits) : signed(bits);
    }
    case 'bytes':
      return Number(size) >= 1 && Number(size) <= WORD_BYTES ? bytes(Number(size)) : null;
    case 'function':
      return size === '' ? bytes(FUNCTION_BYTES) : null;
    case 'address':
      return size === '' ? address : null;
    case 'bool':
      return size === '' ? bool : null;
    default:
      return null;
  }
}

const WORD_BITS = 256;
const WORD_BYTES = 32;
const FUNCTION_BYTES = 24;
const NUMBER_BITS_MAX = 48;

const ZERO = '0'.repeat(WORD_DIGITS);
const ONE = '1'.padStart(WORD_DIGITS, '0');
const ADDRESS_PADDING = '000000000000000000000000';

function unsigned(bits: number): WordReader {
  if (bits === WORD_BITS) return wordNumber;
  const padding = '0'.repeat(WORD_DIGITS - bits / 4);
  if (bits > NUMBER_BITS_MAX)
    return (text, start) => (text.startsWith(padding, start) ? wordNumber(text, start) : undefined);
  return (text, start) =>
    text.startsWith(padding, start)
      ? Number.parseInt(text.slice(start + padding.length, start + WORD_DIGITS), 16)
      : undefined;
}

function signed(bits: number): WordReader {
  return (text, start) => {
    const value = BigInt.asIntN(WORD_BITS, wordNumber(text, start));
    if (BigInt.asIntN(bits, value) !== value) return undefined;
    return bits > NUMBER_BITS_MAX ? value : Number(value);
  };
}

function wordNumber(text: string, start: number): bigint {
  const end = start + WORD_DIGITS;
  const isOneWord = start === PREFIX_DIGITS && text.length === end;
  return BigInt(isOneWord ? text : `0x${text.slice(start, end)}`);
}

function bytes(length: number): WordReader {
  const padding = '0'.repeat(WORD_DIGITS - 2 * length);
  return (text, start) => {
    const end = start + 2 * length;
    return text.slice(end, start + WORD_DIGITS) === padding ? `0x${text.slice(start, end)}` : undefined;
  };
}

function address(text: string, start: number): Hex | undefined {
  const digits = start + ADDRESS_PADDING.length;
  return text.slice(start, digits) === ADDRESS_PADDING
    ? `0x${text.slice(digits, start + WORD_DIGITS)}`
    : undefined;
}

function bool(text: string, start: number): boolean | undefined {
  if (text.startsWith(ONE, start)) return true;
  return text.startsWith(ZERO, start) ? false : undefined;
}
