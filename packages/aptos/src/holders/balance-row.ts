import type { CoinType } from '../coins/coin-type.ts';
import type { AptosNetwork } from '../transaction.ts';

/** What a wallet holds of a coin after a transaction, as the table of history has it (schema.ts). */
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
