import { createWalletHistory, type WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createJobs, type Jobs } from '@chainstead/jobs';
import { nftTransfers } from '../transfers/dataset.ts';

/** Jobs of a database, and histories that requests leave there; no worker is at work. Both end with the given parts. */
export async function openJobs(
  parts: AsyncDisposableStack,
  databaseUrl: string,
): Promise<{
  readonly jobs: Jobs;
  historiesOf(chain: Chain, limits?: { perKey?: number; maxCalls?: number }): WalletHistory;
}> {
  const options = { databaseUrl, logger: silentLogger(), metrics: createMetricsRegistry() };
  const jobs = parts.adopt(await createJobs(options), (one) => one.close());
  return {
    jobs,
    historiesOf: (chain, { perKey = 100, maxCalls = 500 } = {}) =>
      createWalletHistory({ jobs, datasets: [nftTransfers], perKey, chains: [chain], maxCalls }),
  };
}
