import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { createChainSync, createSyncMetrics } from '@chainstead/sync/ingest';
import { nftTransfers } from '../dataset.ts';

/** A chain whose NFT transfers are followed. */
export interface FollowedChain {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
}

/**
 * Follows a chain's NFT transfers from a block on, as ingest does, without the prover.
 * @returns a function that stops it
 */
export function followTransfers(followed: FollowedChain, startBlock: number): () => Promise<void> {
  const stop = new AbortController();
  const running = createChainSync({
    ...followed,
    datasets: [nftTransfers],
    logger: silentLogger(),
    metrics: createSyncMetrics(createMetricsRegistry()),
    clock: systemClock,
    settings: {
      startBlock,
      endBlock: null,
      proof: 'strict',
      backfillProof: 'none',
      backfillOrder: 'newest-first',
      verifyBlocksPerSecond: 0,
    },
  }).run(stop.signal);
  return async () => {
    stop.abort();
    await running;
  };
}
