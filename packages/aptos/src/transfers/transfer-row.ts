import type { CoinType } from '../coins/coin-type.ts';
import type { AptosNetwork } from '../transaction.ts';
import type { ActivityType } from './coin-event.ts';

/** A withdrawal, a deposit, or the gas of a transaction, as stored in the table (schema.ts). */
export interface TransferRow {
  readonly network: AptosNetwork;
  readonly ownerAddress: string;
  readonly transactionVersion: number;
  /** Position among the transaction's events; -1 in the gas row. */
  readonly eventIndex: number;
  readonly eventAccountAddress: string;
  /** Decimal text; `-1` in the gas row. */
  readonly eventCreationNumber: string;
  readonly eventSequenceNumber: string;
  readonly activityType: ActivityType;
  /** Base units. */
  readonly amount: string;
  readonly blockHeight: number;
  readonly coinType: CoinType;
  readonly entryFunctionId: string | null;
  readonly isGasFee: boolean;
  readonly isTransactionSuccess: boolean;
  /** Whole seconds. */
  readonly transactionTimestamp: Date;
}
