import type { Hex } from '@chainstead/core';
import { type AbiBook, isExact } from './abi-book.ts';
import { SELECTOR_DIGITS } from './abi-entry.ts';
import { decodeValues } from './decode-values.ts';
import type { DecodedCall } from './decoded.ts';
import { showArgument } from './show-argument.ts';

/** Null if none or several match. @param input lower case @param books most trusted first */
export function decodeCall(input: Hex, books: readonly AbiBook[]): DecodedCall | null {
  if (input.length < SELECTOR_DIGITS) return null;
  const selector = input.slice(0, SELECTOR_DIGITS) as Hex;
  const data: Hex = `0x${input.slice(SELECTOR_DIGITS)}`;
  for (const { source, functionsOf } of books) {
    const decoded = functionsOf(selector).flatMap(({ name: label, signature, inputs, layout }): DecodedCall[] => {
      const values = decodeValues(layout, data, isExact(source));
      if (values === null) return [];
      const params = inputs.map((type, index) => showArgument(type, values[index]));
      return [{ signature, label, type: 'function', params, source }];
    });
    if (source === 'signatures' && decoded.length > 1) return null;
    const [first] = decoded;
    if (first !== undefined) return first;
  }
  return null;
}
