import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createUpstreamPool, type UpstreamPool } from '@chainstead/rpc';

/** A started pool of one upstream that gives up within a second or two, for tests. */
export async function examplePool(chain: Chain, url: string): Promise<UpstreamPool> {
  const pool = createUpstreamPool({
    chain,
    upstreams: [{ url }],
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    limits: { rounds: 2, deadlineMs: 1_000, backOffMaxMs: 100 },
  });
  await pool.start();
  return pool;
}
