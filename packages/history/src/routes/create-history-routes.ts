import type { WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { RouteModule } from '@chainstead/http';
import { createAbiBooks, createAskedWallets, createLookUps, type LookUpOptions } from '@chainstead/transactions';
import { createActiveChainsRoute } from './active-chains-route.ts';
import { createWalletHistoryRoute } from './wallet-history-route.ts';

export interface HistoryOptions extends LookUpOptions {
  /** Those that are indexed here. */
  readonly chains: readonly Chain[];
  readonly walletHistory: Pick<WalletHistory, 'requestWallet' | 'requestSender'>;
}

/** The routes of wallets' histories. One call in a process: look-ups are counted for all of them together. */
export function createHistoryRoutes(options: HistoryOptions): readonly RouteModule[] {
  const { chains, walletHistory } = options;
  return [
    createWalletHistoryRoute({
      lookUps: createLookUps(options),
      abis: createAbiBooks(),
      askedWallets: createAskedWallets(walletHistory),
      walletHistory,
    }),
    createActiveChainsRoute(chains),
  ];
}
