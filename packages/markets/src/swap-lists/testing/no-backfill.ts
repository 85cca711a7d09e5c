import type { WalletSwapsOptions } from '../swaps-routes.ts';

/** For tests of routes: no process reads on-demand backfills. */
export const noBackfill: WalletSwapsOptions = {
  onDemandBackfill: { requestTrader: async () => 'unserved', retainedFrom: async () => 0 },
};
