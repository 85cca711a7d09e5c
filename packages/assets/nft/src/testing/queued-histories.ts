import type { Chain } from '@chainstead/chains';
import { createOnDemandBackfill, type OnDemandBackfill } from '@chainstead/pages/on-demand';
import { nftTransfers } from '../transfers/dataset.ts';

/** Backfills that requests queue in the database; no worker runs. */
export function historiesOf(
  chain: Chain,
  { perKey = 100, maxCalls = 500 }: { readonly perKey?: number; readonly maxCalls?: number } = {},
): OnDemandBackfill {
  return createOnDemandBackfill({ datasets: [nftTransfers], perKey, chains: [chain], maxCalls });
}
