import { lowerCase } from './event-arguments.ts';
import type { TradedItem } from './marketplace.ts';

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
