import { type CoinStore, eventHandleKey } from '../coins/coin-store.ts';
import type { CoinEvent } from './coin-event.ts';

/**
 * An event contains only its handle: its coin is that of the written `CoinStore` with that handle. A deleted store no
 * longer shows its handles; if an account loses exactly one store, its other events are of that coin.
 */
export function coinTypeByEvent(stores: readonly CoinStore[]): (event: CoinEvent) => string | null {
  const byHandle = new Map<string, string>();
  const byOwnerOfDeleted = new Map<string, string | null>();
  for (const { deleted, owner, coinType, eventHandles } of stores) {
    for (const handle of eventHandles) byHandle.set(handle, coinType);
    // With a second one, the coin is ambiguous.
    if (deleted) byOwnerOfDeleted.set(owner, byOwnerOfDeleted.has(owner) ? null : coinType);
  }
  return ({ account, creationNumber }) =>
    byHandle.get(eventHandleKey(account, creationNumber)) ?? byOwnerOfDeleted.get(account) ?? null;
}
