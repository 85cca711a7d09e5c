import type { Chain } from '@chainstead/chains';
import type { WalletHistoryAnswer } from '../on-demand/on-demand-backfill.ts';
import type { SubjectCoverage } from './subject-coverage.ts';

export interface SyncState {
  readonly status: 'SYNCED' | 'SYNCING';
  readonly message: string | null;
}

export type SubjectNoun = 'wallet' | 'collection' | 'token';

/** @param answer null: no block is missing */
export function syncStateOf(
  chain: Chain,
  noun: SubjectNoun,
  { history, isBuilt }: Pick<SubjectCoverage, 'history' | 'isBuilt'>,
  answer: WalletHistoryAnswer | null,
): SyncState {
  if (answer !== null) return { status: 'SYNCING', message: whySyncing(chain, noun, history, answer) };
  return isBuilt ? { status: 'SYNCED', message: null } : { status: 'SYNCING', message: BUILDING[noun] };
}

export function showSyncState(state: SyncState): { status: SyncState['status']; status_message?: string } {
  return { status: state.status, ...(state.message !== null && { status_message: state.message }) };
}

const BUILDING: Readonly<Record<SubjectNoun, string>> = {
  wallet: 'What this wallet holds is being counted from the transfers that are indexed',
  collection: 'Who holds this collection is being counted from the transfers that are indexed',
  token: 'Who holds this token is being counted from the transfers that are indexed',
};

function whySyncing(
  chain: Chain,
  noun: SubjectNoun,
  history: SubjectCoverage['history'],
  answer: WalletHistoryAnswer,
): string {
  switch (answer) {
    case 'unserved':
      return `This server does not index ${chain.name}`;
    case 'off':
      return `Blocks of this ${noun} are missing, and ON_DEMAND_MAX_CALLS=0 prevents requests from reading them from a node`;
    case 'full':
      return 'This key has reached its limit of wallet backfills in progress: retry when some of them are done';
    case 'requested':
      return `Reading the history of this ${noun} has begun`;
    case 'known':
      return ofHistory(noun, history);
  }
}

function ofHistory(noun: SubjectNoun, history: SubjectCoverage['history']): string {
  // The wallet has no activity, or its key no calls left.
  if (history !== null && (history.status === 'done' || history.status === 'pending') && history.message !== null)
    return history.message;
  if (history === null || history.status === 'done' || history.waits)
    return 'The newest blocks that are missing can still be reorganised, and are read once they can not';
  switch (history.status) {
    case 'refused':
      return `The history of this ${noun} is not read. ${history.message ?? ''}`.trim();
    case 'failed':
      return `Reading the history of this ${noun} has failed and will be tried again`;
    case 'pending':
    case 'running':
      return history.callsEstimated === null
        ? `The history of this ${noun} is being read`
        : `The history of this ${noun} is being read: ${history.callsMade} of about ${history.callsEstimated} node calls made`;
  }
}
