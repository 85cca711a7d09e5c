import type { CoinType } from '../coins/coin-type.ts';
import type { AptosNetwork } from '../transaction.ts';

/** The balance of a wallet in a coin after a transaction, as a row of the history table (schema.ts). */
export interface BalanceRow {
  readonly network: AptosNetwork;
  readonly ownerAddress: string;
  readonly coinType: CoinType;
  readonly transactionVersion: number;
  /** Base units. */
  readonly amount: string;
  /** Whole seconds. */
  readonly transactionTimestamp: Date;
}
