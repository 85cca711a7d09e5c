import type { Address } from '@chainstead/core';
import type { NftMovement } from '@chainstead/token-events';
import type { TradedItem } from './marketplace.ts';

/** The movements of one transaction, found by token and by id. Lists are in chain order. */
export interface MovementsByToken {
  /** Of this token, each of at least the item's amount. */
  of(item: TradedItem): readonly NftMovement[];
  /** Of any token with this id. */
  withId(tokenId: string): readonly NftMovement[];
}

/** Sorts movements by what moved. Ranges of ids that were not expanded are left out: nobody trades them. */
export function movementsByToken(movements: readonly NftMovement[]): MovementsByToken {
  const byToken = new Map<string, NftMovement[]>();
  const byId = new Map<string, NftMovement[]>();
  for (const movement of movements) {
    if (movement.lastTokenId !== null) continue;
    push(byToken, tokenKey(movement), movement);
    push(byId, movement.tokenId, movement);
  }
  return {
    of: (item) => (byToken.get(tokenKey(item)) ?? []).filter((one) => covers(one.amount, item.amount)),
    withId: (tokenId) => byId.get(tokenId) ?? [],
  };
}

/** A token contract and an id as one text. */
export function tokenKey({ token, tokenId }: { readonly token: Address; readonly tokenId: string }): string {
  return `${token}:${tokenId}`;
}

function covers(moved: string, amount: string): boolean {
  return moved === amount || BigInt(moved) >= BigInt(amount);
}

function push<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
