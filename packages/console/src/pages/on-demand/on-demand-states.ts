import type { ChainId } from '@chainstead/core';
import type { CollectionReadState } from '@chainstead/nft';
import type { HistoryStatus } from '@chainstead/sync';

/** What states are called, by their names in the database. */
export const HISTORY_STATES: Readonly<Record<HistoryStatus, string>> = {
  pending: 'queued',
  running: 'reading',
  done: 'complete',
  refused: 'refused',
  failed: 'failed, tried again',
};
export const COLLECTION_STATES: Readonly<Record<CollectionReadState, string>> = {
  queued: 'queued',
  complete: 'complete',
  refused: 'refused',
  failed: 'failed, tried again',
};

/** The state of this name; null where none is chosen. */
export function stateNamed<State extends string>(states: Readonly<Record<State, string>>, name: string): State | null {
  for (const state in states) if (state === name) return state;
  return null;
}

/** What is chosen of a list. */
export interface OnDemandChoice {
  /** Empty: all. */
  readonly chain: string;
  readonly chainId: ChainId | null;
  /** Empty: all. */
  readonly state: string;
  /** To choose from. */
  readonly chains: readonly string[];
  readonly nameOf: (chainId: number) => string;
}
