/** Indexes the final chain once, without faults, in this process: what the simulated tables must equal. */
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createChainSync, createSyncMetrics } from '@chainstead/sync/ingest';
import { simulatedChain, simulatedDatasets } from './simulated-chain.ts';

/** For a long chain. */
const BLOCK_MS_MAX = 30;

export interface FreshIndexOptions {
  readonly url: string;
  readonly database: Database;
  readonly startBlock: number;
  readonly endBlock: number;
}

export async function indexFresh(options: FreshIndexOptions): Promise<void> {
  const chain = simulatedChain();
  const metrics = createMetricsRegistry();
  const pool = createUpstreamPool({ chain, upstreams: [{ url: options.url }], logger: silentLogger(), metrics });
  await pool.start();
  try {
    await createChainSync({
      chain,
      pool,
      database: options.database,
      datasets: simulatedDatasets(),
      logger: silentLogger(),
      metrics: createSyncMetrics(metrics),
      clock: systemClock,
      settings: {
        startBlock: options.startBlock,
        endBlock: options.endBlock,
        proof: 'strict',
        backfillProof: 'receipts',
        backfillOrder: 'oldest-first',
        verifyBlocksPerSecond: 0,
      },
    }).run(AbortSignal.timeout(60_000 + (options.endBlock - options.startBlock) * BLOCK_MS_MAX));
  } finally {
    await pool.close();
  }
}
