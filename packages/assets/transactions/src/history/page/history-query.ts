import type { Address, Hash } from '@chainstead/core';
import type { PageBounds } from '@chainstead/pages';
import type { TransactionPlace } from '../../stored/account-transactions-statement.ts';

export interface PlacedTransaction extends TransactionPlace {
  readonly hash: Hash;
}

export const FIRST_PLACE = {
  ...{ order: 'ASC' as const, limit: 0, after: null, pinnedBlock: null },
  ...{ fromBlock: null, toBlock: null, fromDate: null, toDate: null },
} satisfies Omit<HistoryQuery, 'wallet'>;

export interface HistoryQuery extends PageBounds {
  readonly wallet: Address;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  readonly after: TransactionPlace | null;
}
