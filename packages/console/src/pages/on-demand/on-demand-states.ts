import type { ChainId } from '@chainstead/core';
import type { CollectionReadState } from '@chainstead/nft';
import type { HistoryStatus } from '@chainstead/sync';

/** Display names of states, by their names in the database. */
export const HISTORY_STATES: Readonly<Record<HistoryStatus, string>> = {
  pending: 'queued',
  running: 'reading',
  done: 'complete',
  refused: 'refused',
  failed: 'failed, will retry',
};
export const COLLECTION_STATES: Readonly<Record<CollectionReadState, string>> = {
  queued: 'queued',
  complete: 'complete',
  refused: 'refused',
  failed: 'failed, will retry',
};

/** Returns the state with this name; null if none is chosen. */
export function stateNamed<State extends string>(states: Readonly<Record<State, string>>, name: string): State | null {
  for (const state in states) if (state === name) return state;
  return null;
}

/** The filter of a list. */
export interface OnDemandChoice {
  /** Empty: all. */
  readonly chain: string;
  readonly chainId: ChainId | null;
  /** Empty: all. */
  readonly state: string;
  /** The available chains. */
  readonly chains: readonly string[];
  readonly nameOf: (chainId: number) => string;
}
