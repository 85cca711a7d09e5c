import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';

/** A started pool of one upstream for tests: gives up at once where the node refuses; it has longer than a machine stalls to say anything. */
export async function examplePool(chain: Chain, url: string): Promise<UpstreamPool> {
  const pool = createUpstreamPool({
    chain,
    upstreams: [{ url }],
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    limits: { rounds: 2, deadlineMs: 20_000, backOffMaxMs: 100 },
  });
  await pool.start();
  return pool;
}
