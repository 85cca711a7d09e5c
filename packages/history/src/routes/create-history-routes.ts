import type { WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { RouteModule } from '@chainstead/http';
import type { KeptSubjects } from '@chainstead/sync';
import {
  type AbiBooks,
  createAbiBooks,
  createAskedWallets,
  createLookUps,
  type LookUpOptions,
} from '@chainstead/transactions';
import { createWalletInsightRoute } from '../insight/wallet-insight-route.ts';
import { createActiveChainsRoute } from './active-chains-route.ts';
import { createWalletHistoryRoute } from './wallet-history-route.ts';
import { createWalletStatsRoute } from './wallet-stats-route.ts';

export interface HistoryOptions extends LookUpOptions {
  /** Those that are indexed here. */
  readonly chains: readonly Chain[];
  /** Shared with other routes. @default one of its own, that has nobody asked about proxies */
  readonly abis?: AbiBooks;
  readonly walletHistory: Pick<WalletHistory, 'requestWallet' | 'requestSender' | 'requestReceiver'>;
  readonly kept: KeptSubjects;
}

/** The routes of wallets' histories. One call in a process: look-ups are counted for all of them together. */
export function createHistoryRoutes(options: HistoryOptions): readonly RouteModule[] {
  const { abis = createAbiBooks(), chains, walletHistory } = options;
  const askedWallets = createAskedWallets(walletHistory, options.waitMs);
  return [
    createWalletHistoryRoute({
      lookUps: createLookUps(options),
      abis,
      askedWallets,
      walletHistory,
    }),
    createActiveChainsRoute({ served: chains, askedWallets, walletHistory }),
    createWalletInsightRoute({ ...options, served: chains, askedWallets }),
    createWalletStatsRoute({ ...options, askedWallets }),
  ];
}
