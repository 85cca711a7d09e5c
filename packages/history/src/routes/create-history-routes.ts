import type { WalletHistory } from '@chainstead/answers';
import type { RouteModule } from '@chainstead/http';
import { createAbiBooks, createLookUps, type LookUpOptions } from '@chainstead/transactions';
import { createWalletHistoryRoute } from './wallet-history-route.ts';

export interface HistoryOptions extends LookUpOptions {
  readonly walletHistory: Pick<WalletHistory, 'requestWallet'>;
}

/** The routes of wallets' histories. One call in a process: look-ups are counted for all of them together. */
export function createHistoryRoutes(options: HistoryOptions): readonly RouteModule[] {
  const { walletHistory } = options;
  return [createWalletHistoryRoute({ lookUps: createLookUps(options), abis: createAbiBooks(), walletHistory })];
}
