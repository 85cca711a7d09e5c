import type { WalletHistory } from '@chainstead/answers';
import type { AbiBooks, AskedWallets, LookUps } from '@chainstead/transactions';

/** What the routes of wallets' histories work with. */
export interface HistoryRouteOptions {
  /** Where transactions are read that are not stored. */
  readonly lookUps: LookUps;
  /** What operators imported. */
  readonly abis: AbiBooks;
  /** Where chains keep only the transactions of wallets that are asked for. */
  readonly askedWallets: AskedWallets;
  readonly walletHistory: Pick<WalletHistory, 'requestWallet'>;
}
