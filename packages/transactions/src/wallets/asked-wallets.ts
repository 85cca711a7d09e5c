import type { RequestContext, WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import { areBalancesMissing, isAllSentKnown, readWalletSearch, type WalletSearch } from './read-wallet-search.ts';

/** The wallets whose transactions somebody asked for. */
export interface AskedWallets {
  /**
   * Says that a wallet's transactions are asked for: where a chain keeps only those of such wallets, each new block is searched for it from the
   * next one on, and what it sent in older ones is looked for, then what it received. Touches the database and the queue, never a node.
   * @returns which blocks its transactions are known of by now; null where those of all wallets are kept, or of none
   */
  ask(context: RequestContext, chain: Chain, wallet: Address, requestedBy: string | null): Promise<WalletSearch | null>;
}

/** That a wallet is asked for is written down so often: one that nobody asks for is forgotten after weeks. */
const ASKED_AGAIN = "interval '6 hours'";
/** Between two looks at whether it is written down. Milliseconds. */
const LOOK_AGAIN_MS = 600_000;
const LOOKED_MAX = 10_000;

/** One for all routes of a process. */
export function createAskedWallets(
  walletHistory: Pick<WalletHistory, 'requestSender' | 'requestReceiver'>,
): AskedWallets {
  const looked = new Map<string, number>();

  async function note({ database }: RequestContext, chain: Chain, wallet: Address): Promise<void> {
    const key = `${chain.id}.${wallet}`;
    const before = looked.get(key);
    if (before !== undefined && performance.now() - before < LOOK_AGAIN_MS) return;
    await database.query(
      `INSERT INTO asked_wallets AS known (chain_id, wallet) VALUES ($1, $2)
       ON CONFLICT (chain_id, wallet) DO UPDATE SET asked_at = now() WHERE known.asked_at < now() - ${ASKED_AGAIN}`,
      [chain.id, addressBytes(wallet)],
    );
    // A miss only costs a look.
    if (looked.size >= LOOKED_MAX) looked.clear();
    looked.set(key, performance.now());
  }

  return {
    async ask(context, chain, wallet, requestedBy) {
      if (chain.transactions.mode !== 'wallets') return null;
      await note(context, chain, wallet);
      const search = await readWalletSearch(context.database, chain, wallet);
      if (!isAllSentKnown(search)) await walletHistory.requestSender(context, chain, wallet, requestedBy);
      else if (areBalancesMissing(search, chain))
        await walletHistory.requestReceiver(context, chain, wallet, requestedBy);
      return search;
    },
  };
}
