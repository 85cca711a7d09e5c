import type { OnDemandBackfill } from '@chainstead/data-api';
import type { AbiBooks, OnDemandReads, TrackedWallets } from '@chainstead/transactions';

export interface HistoryRouteOptions {
  readonly onDemandReads: OnDemandReads;
  readonly abis: AbiBooks;
  /** For chains that store only the transactions of requested wallets. */
  readonly trackedWallets: TrackedWallets;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
}
