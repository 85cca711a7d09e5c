import { type CoinStore, eventHandleKey } from '../coins/coin-store.ts';
import type { CoinEvent } from './coin-event.ts';

/**
 * Finds the coin of an event, which names only its handle: that of the written `CoinStore` that has the handle. A store that the
 * transaction deletes no longer shows its handles; where an account loses exactly one, its other events are of that coin.
 * Null where neither tells.
 */
export function coinTypeByEvent(stores: readonly CoinStore[]): (event: CoinEvent) => string | null {
  const byHandle = new Map<string, string>();
  const byOwnerOfDeleted = new Map<string, string | null>();
  for (const { deleted, owner, coinType, eventHandles } of stores) {
    for (const handle of eventHandles) byHandle.set(handle, coinType);
    // A second one makes it uncertain.
    if (deleted) byOwnerOfDeleted.set(owner, byOwnerOfDeleted.has(owner) ? null : coinType);
  }
  return ({ account, creationNumber }) =>
    byHandle.get(eventHandleKey(account, creationNumber)) ?? byOwnerOfDeleted.get(account) ?? null;
}
