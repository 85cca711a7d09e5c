import type { Address } from '@chainstead/core';
import type { NftTransfer } from '@chainstead/events/token-events';
import type { TradedItem } from './marketplace.ts';

export interface TransfersByToken {
  of(item: TradedItem): readonly NftTransfer[];
  withId(tokenId: string): readonly NftTransfer[];
}

export function transfersByToken(transfers: readonly NftTransfer[]): TransfersByToken {
  const byToken = new Map<string, NftTransfer[]>();
  const byId = new Map<string, NftTransfer[]>();
  for (const transfer of transfers) {
    if (transfer.lastTokenId !== null) continue;
    push(byToken, tokenKey(transfer), transfer);
    push(byId, transfer.tokenId, transfer);
  }
  return {
    of: (item) =>
      (byToken.get(tokenKey(item)) ?? []).filter(({ amount }) => BigInt(amount) >= BigInt(item.amount)),
    withId: (tokenId) => byId.get(tokenId) ?? [],
  };
}

export function tokenKey({ token, tokenId }: { readonly token: Address; readonly tokenId: string }): string {
  return `${token}:${tokenId}`;
}

function push<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
