import type { Address } from '@chainstead/core';

/** Event values for the native token: the zero address, the usual placeholder, Polygon's system contract. */
const NATIVE_PLACEHOLDERS: ReadonlySet<string> = new Set([
  `0x${'0'.repeat(40)}`,
  `0x${'e'.repeat(40)}`,
  `0x${'1010'.padStart(40, '0')}`,
]);

/** Returns the ERC-20 payment token of an event, including the wrapped native token; null for the native token. */
export function paymentToken(named: string): Address | null {
  const token = named.toLowerCase() as Address;
  return NATIVE_PLACEHOLDERS.has(token) ? null : token;
}
