import type { PageBounds } from '@chainstead/answers';
import type { Address, Hash } from '@chainstead/core';

/** A transaction's place in its chain. */
export interface TransactionPlace {
  readonly blockNumber: number;
  readonly transactionIndex: number;
}

/** One of a wallet's transactions. */
export interface PlacedTransaction extends TransactionPlace {
  readonly hash: Hash;
}

/** Which of a wallet's transactions. */
export interface HistoryQuery extends PageBounds {
  readonly wallet: Address;
  readonly order: 'ASC' | 'DESC';
  /** Transactions wanted; one more is looked for to see whether a page follows. */
  readonly limit: number;
  /** Those strictly beyond this place; null for the first page. */
  readonly after: TransactionPlace | null;
}
