import type { Hex } from '@chainstead/core';
import { PREFIX_DIGITS, WORD_DIGITS } from './abi-words.ts';

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
