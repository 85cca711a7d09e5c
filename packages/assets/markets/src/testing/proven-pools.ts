import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, isAddress, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { createDueWork } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import { expect, vi } from 'vitest';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { recomputePool } from '../exchanges/prove-pool.ts';
import { addPoolProofs } from '../proofs/pool-worker.ts';
import type { SwapRow } from '../tables/schema.ts';

/** Whether the address of the swap's pool proves it: then no node is asked. */
export function isProvenByAddress({ pool, token0, token1 }: SwapRow, chain: Chain): boolean {
  if (!isAddress(pool) || token0 === null || token1 === null) return false;
  return recomputePool(parseAddress(pool), [token0, token1], exchangesOf(chain)) !== null;
}

/** Works on stored pools until none is due. Those that need a node must not be stored. */
export async function proveStoredPools(database: Database, chain: Chain): Promise<void> {
  const metrics = createMetricsRegistry();
  const work = createDueWork({ database, metrics, logger: silentLogger(), clock: systemClock, sweepEveryMs: 20 });
  addPoolProofs(work, { database, metrics, chains: [{ chain, pool: {} as UpstreamPool }] });
  work.start();
  const due = () => database.query(sql`SELECT FROM pools WHERE coalesce(lease_until, due_at) IS NOT NULL`);
  await vi.waitFor(async () => expect(await due()).toHaveLength(0), { timeout: 20_000 });
  await work.close();
}
