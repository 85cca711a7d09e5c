import type { WalletSwapsOptions } from '../swaps-routes.ts';

/** For tests of routes: no process reads on-demand backfills, and tokens that are no anchors have no price. */
export const noBackfill: WalletSwapsOptions = {
  onDemandBackfill: { requestTrader: async () => 'unserved', retainedFrom: async () => 0 },
  readDirectPrices: async () => () => null,
};
