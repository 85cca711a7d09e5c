import type { WalletHistoryAnswer } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { WalletCollectionsPage } from './get-wallet-collections.ts';

/** What a client is told of a wallet whose history is not complete. */
export interface SyncState {
  readonly status: 'SYNCED' | 'SYNCING';
  readonly message: string | null;
}

/**
 * Says whether a page shows everything, and where not, why and whether that will change.
 * @param answer what became of the request for the wallet's history; null where no block is missing and none was made
 */
export function syncStateOf(
  chain: Chain,
  { history, isBuilt }: Pick<WalletCollectionsPage, 'history' | 'isBuilt'>,
  answer: WalletHistoryAnswer | null,
): SyncState {
  if (answer !== null) return { status: 'SYNCING', message: whySyncing(chain, history, answer) };
  return isBuilt ? { status: 'SYNCED', message: null } : { status: 'SYNCING', message: BUILDING };
}

const BUILDING = 'What this wallet holds is being counted from the transfers that are indexed';

function whySyncing(chain: Chain, history: WalletCollectionsPage['history'], answer: WalletHistoryAnswer): string {
  switch (answer) {
    case 'unserved':
      return `This server does not index ${chain.name}`;
    case 'off':
      return "Blocks are missing of this wallet's history, and wallet history is turned off here";
    case 'full':
      return 'As many wallet histories as this key may have are being read: ask again when some of them are done';
    case 'requested':
      return 'Reading the history of this wallet has begun';
    case 'known':
      return ofHistory(history);
  }
}

function ofHistory(history: WalletCollectionsPage['history']): string {
  if (history === null || history.status === 'done' || history.waits)
    return 'The newest blocks that are missing can still be reorganised, and are read once they can not';
  switch (history.status) {
    case 'refused':
      return `The history of this wallet is not read. ${history.message ?? ''}`.trim();
    case 'failed':
      return 'Reading the history of this wallet has failed and will be tried again';
    case 'pending':
    case 'running':
      return history.callsEstimated === null
        ? 'The history of this wallet is being read'
        : `The history of this wallet is being read: ${history.callsMade} of about ${history.callsEstimated} node calls made`;
  }
}
