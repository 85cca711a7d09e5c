import { setTimeout } from 'node:timers/promises';
import type { RequestContext, WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import {
  areBalancesMissing,
  areNewestSearched,
  isAllSentKnown,
  readWalletSearch,
  type WalletSearch,
} from './read-wallet-search.ts';

/** The wallets whose transactions somebody asked for. */
export interface AskedWallets {
  /**
   * Says that a wallet's transactions are asked for: where a chain keeps only those of such wallets, each new block is searched for it from the
   * next one on, and what it sent in older ones is looked for, then what it received. The first request waits for the newest of them, which may hold what a
   * user has just sent. Touches the database and the queue, never a node.
   * @returns which blocks its transactions are known of by now; null where those of all wallets are kept, or of none
   */
  ask(context: RequestContext, chain: Chain, wallet: Address, requestedBy: string | null): Promise<WalletSearch | null>;
}

/** That a wallet is asked for is written down so often: one that nobody asks for is forgotten after weeks. */
const ASKED_AGAIN = "interval '6 hours'";
/** Between two looks at whether it is written down. Milliseconds. */
const LOOK_AGAIN_MS = 600_000;
const LOOKED_MAX = 10_000;

/** Between two looks at what is searched. Milliseconds. */
const POLL_MS = 50;

/**
 * One for all routes of a process.
 * @param waitMs how long the first request for a wallet waits (`INDEX_WAIT_MS`)
 */
export function createAskedWallets(
  walletHistory: Pick<WalletHistory, 'requestSender' | 'requestReceiver'>,
  waitMs: number,
): AskedWallets {
  const looked = new Map<string, number>();

  /** @returns when this process last wrote it down, by `performance.now()` */
  async function note({ database }: RequestContext, chain: Chain, wallet: Address): Promise<number> {
    const key = `${chain.id}.${wallet}`;
    const before = looked.get(key);
    if (before !== undefined && performance.now() - before < LOOK_AGAIN_MS) return before;
    await database.query(
      `INSERT INTO asked_wallets AS known (chain_id, wallet) VALUES ($1, $2)
       ON CONFLICT (chain_id, wallet) DO UPDATE SET asked_at = now() WHERE known.asked_at < now() - ${ASKED_AGAIN}`,
      [chain.id, addressBytes(wallet)],
    );
    // A miss only costs a look.
    if (looked.size >= LOOKED_MAX) looked.clear();
    const now = performance.now();
    looked.set(key, now);
    return now;
  }

  /** Until workers have searched the blocks that can be reorganised, or the time is up. */
  async function untilNewestSearched(
    { database }: RequestContext,
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
        await walletHistory.requestSender(context, chain, wallet, requestedBy);
        return untilNewestSearched(context, chain, wallet, { before: search, ends: noted + waitMs });
      }
      if (areBalancesMissing(search, chain)) await walletHistory.requestReceiver(context, chain, wallet, requestedBy);
      return search;
    },
  };
}
