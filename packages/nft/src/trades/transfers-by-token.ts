import type { Address } from '@chainstead/core';
import type { NftTransfer } from '@chainstead/token-events';
import type { TradedItem } from './marketplace.ts';

/** The transfers of one transaction, by token and by id. Lists are in chain order. */
export interface TransfersByToken {
  /** Returns transfers of this token, each of at least the item's amount. */
  of(item: TradedItem): readonly NftTransfer[];
  /** Returns transfers of any token with this id. */
  withId(tokenId: string): readonly NftTransfer[];
}

/** Groups transfers by token. Unexpanded id ranges are left out: they are not traded. */
export function transfersByToken(transfers: readonly NftTransfer[]): TransfersByToken {
  const byToken = new Map<string, NftTransfer[]>();
  const byId = new Map<string, NftTransfer[]>();
  for (const transfer of transfers) {
    if (transfer.lastTokenId !== null) continue;
    push(byToken, tokenKey(transfer), transfer);
    push(byId, transfer.tokenId, transfer);
  }
  return {
    of: (item) => (byToken.get(tokenKey(item)) ?? []).filter((one) => covers(one.amount, item.amount)),
    withId: (tokenId) => byId.get(tokenId) ?? [],
  };
}

/** Returns a token contract and an id as one text. */
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
