import { setTimeout } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import { type Address, waitLeft } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import type { OnDemandBackfill, OnDemandContext } from '@chainstead/pages/on-demand';
import {
  areBalancesMissing,
  areNewestSearched,
  isAllSentKnown,
  readWalletSearch,
  type WalletSearch,
} from './read-wallet-search.ts';

export interface TrackedWallets {
  /** Null: the chain stores all wallets, or none. The first request waits. Calls no node. */
  ask(
    context: OnDemandContext,
    chain: Chain,
    wallet: Address,
    requestedBy: string | null,
  ): Promise<WalletSearch | null>;
}

const REQUESTED_AGAIN = sql`interval '6 hours'`;
/** Milliseconds. */
const LOOK_AGAIN_MS = 600_000;
const LOOKED_MAX = 10_000;

const POLL_MS = 50;

/** One per process. */
export function createTrackedWallets(
  onDemandBackfill: Pick<OnDemandBackfill, 'requestSender' | 'requestReceiver'>,
): TrackedWallets {
  /** Ends of the waits of first requests. */
  const looked = new Map<string, number>();

  async function note({ database }: OnDemandContext, chain: Chain, wallet: Address): Promise<number> {
    const key = `${chain.id}.${wallet}`;
    const known = looked.get(key);
    if (known !== undefined && performance.now() - known < LOOK_AGAIN_MS) return known;
    await database.query(
      sql`INSERT INTO tracked_wallets AS known (chain_id, wallet) VALUES (${chain.id}, ${addressBytes(wallet)})
       ON CONFLICT (chain_id, wallet) DO UPDATE SET asked_at = now() WHERE known.asked_at < now() - ${REQUESTED_AGAIN}`,
    );
    // A miss only costs a query.
    if (looked.size >= LOOKED_MAX) looked.clear();
    // Responses can do without the search: half of the wait is left for other reads.
    const ends = performance.now() + waitLeft() / 2;
    looked.set(key, ends);
    return ends;
  }

  async function untilNewestSearched(
    { database }: OnDemandContext,
    chain: Chain,
    wallet: Address,
    { before, ends }: { readonly before: WalletSearch; readonly ends: number },
  ): Promise<WalletSearch> {
    let search = before;
    while (!areNewestSearched(search, before, chain) && performance.now() < ends) {
      await setTimeout(POLL_MS);
      search = await readWalletSearch(database, chain, wallet);
    }
    return search;
  }

  return {
    async ask(context, chain, wallet, requestedBy) {
      if (chain.transactions.mode !== 'wallets') return null;
      const ends = await note(context, chain, wallet);
      const search = await readWalletSearch(context.database, chain, wallet);
      if (!isAllSentKnown(search)) {
        await onDemandBackfill.requestSender(context, chain, wallet, requestedBy);
        return untilNewestSearched(context, chain, wallet, { before: search, ends });
      }
      if (areBalancesMissing(search, chain))
        await onDemandBackfill.requestReceiver(context, chain, wallet, requestedBy);
      return search;
    },
  };
}
