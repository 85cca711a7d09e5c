import type { Chain } from '@chainstead/chains';
import type { RouteModule } from '@chainstead/http';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { type AbiBooks, createAbiBooks } from '../../abis/abi-books.ts';
import { createOnDemandReads, type OnDemandReadsOptions } from '../../on-demand-reads.ts';
import { createTrackedWallets } from '../../wallets/tracked-wallets.ts';
import { createWalletInsightRoute } from '../insight/wallet-insight-route.ts';
import { createActiveChainsRoute } from './active-chains-route.ts';
import { createWalletHistoryRoute } from './wallet-history-route.ts';
import { createWalletStatsRoute } from './wallet-stats-route.ts';

interface HistoryRoutesOptions extends OnDemandReadsOptions {
  readonly chains: readonly Chain[];
  /** @default a separate one, without proxy reads */
  readonly abis?: AbiBooks;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet' | 'requestSender' | 'requestReceiver'>;
  readonly projections: SubjectProjections;
}

/** Once per process: state reads are shared. */
export function createHistoryRoutes(options: HistoryRoutesOptions): readonly RouteModule[] {
  const { abis = createAbiBooks(), chains, onDemandBackfill } = options;
  const trackedWallets = createTrackedWallets(onDemandBackfill);
  return [
    createWalletHistoryRoute({
      onDemandReads: createOnDemandReads(options),
      abis,
      trackedWallets,
      onDemandBackfill,
    }),
    createActiveChainsRoute({ served: chains, trackedWallets, onDemandBackfill }),
    createWalletInsightRoute({ ...options, served: chains, trackedWallets }),
    createWalletStatsRoute({ ...options, trackedWallets }),
  ];
}
