import type { Address } from '@chainstead/core';

/** What events say for the chain's native currency: the zero address, the usual placeholder, Polygon's system contract. */
const NATIVE_PLACEHOLDERS: ReadonlySet<string> = new Set([
  `0x${'0'.repeat(40)}`,
  `0x${'e'.repeat(40)}`,
  `0x${'1010'.padStart(40, '0')}`,
]);

/** The ERC-20 token that an event names as payment, wrapped native currency among them; null for the native currency itself. */
export function paymentToken(named: string): Address | null {
  const token = named.toLowerCase() as Address;
  return NATIVE_PLACEHOLDERS.has(token) ? null : token;
}
