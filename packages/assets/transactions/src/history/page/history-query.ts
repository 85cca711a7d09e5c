import type { Address, Hash } from '@chainstead/core';
import type { ChainQuery, TransactionPosition } from '@chainstead/pages';

export interface PlacedTransaction extends TransactionPosition {
  readonly hash: Hash;
}

export const FIRST_PLACE = {
  ...{ order: 'ASC' as const, limit: 1, after: null, pinnedBlock: null },
  ...{ fromBlock: null, toBlock: null, fromDate: null, toDate: null },
} satisfies Omit<HistoryQuery, 'wallet'>;

export interface HistoryQuery extends ChainQuery<TransactionPosition> {
  readonly wallet: Address;
}
