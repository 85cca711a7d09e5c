import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createUpstreamPool, type UpstreamPool } from '@chainstead/rpc';

/** A started pool of one upstream, for tests. */
export async function examplePool(chain: Chain, url: string): Promise<UpstreamPool> {
  const pool = createUpstreamPool({
    chain,
    upstreams: [{ url }],
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
  });
  await pool.start();
  return pool;
}
