import type { WalletHistory } from '@chainstead/answers';
import type { AbiBooks, LookUps } from '@chainstead/transactions';

/** What the routes of wallets' histories work with. */
export interface HistoryRouteOptions {
  /** Where transactions are read that are not stored. */
  readonly lookUps: LookUps;
  /** What operators imported. */
  readonly abis: AbiBooks;
  readonly walletHistory: Pick<WalletHistory, 'requestWallet'>;
}
