import type { Address, Hex } from '@chainstead/core';
import type { TradedItem } from './marketplace.ts';

export function lowerCase(address: Hex): Address {
  return address.toLowerCase() as Address;
}

/** The zero address, the usual placeholder, Polygon's system contract. */
const NATIVE_PLACEHOLDERS: ReadonlySet<string> = new Set([
  `0x${'0'.repeat(40)}`,
  `0x${'e'.repeat(40)}`,
  `0x${'1010'.padStart(40, '0')}`,
]);

/** Null for the native token. The wrapped native token is an ERC-20. */
export function paymentToken(named: string): Address | null {
  const token = named.toLowerCase() as Address;
  return NATIVE_PLACEHOLDERS.has(token) ? null : token;
}

/** Null if the lists differ in length or are empty. */
export function tradedItems(
  token: `0x${string}`,
  ids: readonly bigint[],
  amounts: readonly bigint[],
): readonly TradedItem[] | null {
  if (ids.length === 0 || ids.length !== amounts.length) return null;
  return ids.map((id, index) => tradedItem(token, id, amounts[index]));
}

export function tradedItem(token: `0x${string}`, id: bigint, amount: bigint = 1n): TradedItem {
  return { token: lowerCase(token), tokenId: id.toString(), amount: amount.toString() };
}
