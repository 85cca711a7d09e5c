import { setTimeout } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
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

/** One per process. `waitMs`: for the first request of a wallet (`ON_DEMAND_WAIT_MS`). */
export function createTrackedWallets(
  onDemandBackfill: Pick<OnDemandBackfill, 'requestSender' | 'requestReceiver'>,
  limits: { readonly waitMs: number },
): TrackedWallets {
  const looked = new Map<string, number>();

  async function note({ database }: OnDemandContext, chain: Chain, wallet: Address): Promise<number> {
    const key = `${chain.id}.${wallet}`;
    const before = looked.get(key);
    if (before !== undefined && performance.now() - before < LOOK_AGAIN_MS) return before;
    await database.query(
      sql`INSERT INTO tracked_wallets AS known (chain_id, wallet) VALUES (${chain.id}, ${addressBytes(wallet)})
       ON CONFLICT (chain_id, wallet) DO UPDATE SET asked_at = now() WHERE known.asked_at < now() - ${REQUESTED_AGAIN}`,
    );
    // A miss only costs a query.
    if (looked.size >= LOOKED_MAX) looked.clear();
    const now = performance.now();
    looked.set(key, now);
    return now;
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
      const noted = await note(context, chain, wallet);
      const search = await readWalletSearch(context.database, chain, wallet);
      if (!isAllSentKnown(search)) {
        await onDemandBackfill.requestSender(context, chain, wallet, requestedBy);
        return untilNewestSearched(context, chain, wallet, { before: search, ends: noted + limits.waitMs });
      }
      if (areBalancesMissing(search, chain))
        await onDemandBackfill.requestReceiver(context, chain, wallet, requestedBy);
      return search;
    },
  };
}
