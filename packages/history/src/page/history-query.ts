import type { Address, Hash } from '@chainstead/core';
import type { PageBounds } from '@chainstead/data-api';

/** A transaction's position in its chain. */
export interface TransactionPlace {
  readonly blockNumber: number;
  readonly transactionIndex: number;
}

export interface PlacedTransaction extends TransactionPlace {
  readonly hash: Hash;
}

export interface HistoryQuery extends PageBounds {
  readonly wallet: Address;
  readonly order: 'ASC' | 'DESC';
  /** Number of transactions; one more is read to detect a next page. */
  readonly limit: number;
  /** Those strictly after this position; null for the first page. */
  readonly after: TransactionPlace | null;
}
