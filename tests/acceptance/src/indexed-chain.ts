import { type Chain, createChainRegistry } from '@chainstead/chains';
import {
  type Clock,
  createMetricsRegistry,
  errorText,
  type Logger,
  type Registry,
  silentLogger,
  systemClock,
} from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool, type PoolLimits } from '@chainstead/rpc/pool';
import {
  type BackfillProgress,
  type ChainSyncSettings,
  createChainSync,
  createSyncMetrics,
  type SyncMetrics,
} from '@chainstead/sync/ingest';
import { datasets } from 'chainstead/src/datasets/index.ts';

/** A real pool and sync engine over nodes of a scripted chain, in this process. For tests of what ends up in the tables. */

const HASTE = 20;

export const SCRIPTED_CHAIN_ID = 1_337_002;

/** A chain as configuration adds it, with Ethereum's proofs: what a scripted chain keeps. */
export function scriptedChainFacts(id = SCRIPTED_CHAIN_ID): Chain {
  const key = `scripted-${id}`;
  return createChainRegistry({
    additional: [{ key, id, pollIntervalMs: 20, headerHash: true, proofPolicy: 'strict' }],
  }).get(key);
}

/** A clock on which everything takes a twentieth of its time: what waits for seconds need not make a test wait. */
export const hastyClock: Clock = {
  now: () => Date.now() * HASTE,
  sleep: (ms, signal) => systemClock.sleep(ms / HASTE, signal),
};

/** What a pool needs to try again quickly in a test. An upstream that says nothing is waited for as long as always: a busy machine is slow. */
const QUICK_RETRIES: Partial<PoolLimits> = {
  backOffBaseMs: 10,
  backOffMaxMs: 80,
  breakerOpenMs: 50,
  breakerOpenMaxMs: 400,
  startGraceMs: 300,
  recheckMs: 250,
};

/** A pool that is started, with the registry that it counts in. */
export interface PoolUnderTest {
  readonly pool: UpstreamPool;
  readonly registry: Registry;
  readonly metrics: SyncMetrics;
}

/** @throws NoUpstreamError */
export async function startPool(
  chain: Chain,
  urls: readonly string[],
  limits: Partial<PoolLimits> = {},
): Promise<PoolUnderTest> {
  const registry = createMetricsRegistry();
  const pool = createUpstreamPool({
    chain,
    upstreams: urls.map((url) => ({ url })),
    logger: silentLogger(),
    metrics: registry,
    limits: { ...QUICK_RETRIES, ...limits },
  });
  try {
    await pool.start();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return { pool, registry, metrics: createSyncMetrics(registry) };
}

export interface IndexerOptions {
  readonly chain: Chain;
  readonly urls: readonly string[];
  readonly database: Database;
  readonly settings?: Partial<ChainSyncSettings>;
  readonly limits?: Partial<PoolLimits>;
  /** Clock of the sync engine. Default: the hasty one. */
  readonly clock?: Clock;
  /** Logger of the sync engine. Default: silent. */
  readonly logger?: Logger;
  onBackfill?(progress: BackfillProgress): void;
}

/** An ingest at work. */
export interface Indexer extends PoolUnderTest {
  /** Settles when the run ends: stopped, or complete up to its end block. */
  readonly finished: Promise<void>;
  stop(): Promise<void>;
}

const FOLLOW_FROM_ONE: ChainSyncSettings = {
  startBlock: 1,
  endBlock: null,
  proof: 'strict',
  backfillProof: 'none',
  backfillOrder: 'newest-first',
  verifyBlocksPerSecond: 100_000,
};

/** Follows the chain from block 1 with the prover on, unless the settings say otherwise. */
export async function startIndexer(options: IndexerOptions): Promise<Indexer> {
  const { chain, urls, database, settings, limits, onBackfill, clock = hastyClock } = options;
  const upstreams = await startPool(chain, urls, limits);
  const stop = new AbortController();
  const finished = createChainSync({
    chain,
    ...upstreams,
    database,
    datasets,
    logger: options.logger ?? silentLogger(),
    clock,
    settings: { ...FOLLOW_FROM_ONE, ...settings },
    ...(onBackfill === undefined ? {} : { onBackfill }),
  }).run(stop.signal);
  return {
    ...upstreams,
    finished,
    async stop() {
      stop.abort(new Error('The test stops it'));
      await finished;
      await upstreams.pool.close();
    },
  };
}

/** Indexes the node's blocks, proven, from one block to another, once; with a separate database this is the expected result. */
export async function indexFresh(options: {
  readonly chain: Chain;
  readonly url: string;
  readonly database: Database;
  readonly from: number;
  readonly to: number;
}): Promise<void> {
  const { chain, url, database, from, to } = options;
  const indexer = await startIndexer({
    chain,
    urls: [url],
    database,
    settings: {
      startBlock: from,
      endBlock: to,
      backfillProof: 'receipts',
      backfillOrder: 'oldest-first',
      verifyBlocksPerSecond: 0,
    },
  });
  await indexer.finished;
  await indexer.pool.close();
}

/** How often an upstream was caught in a fault, by the metric. */
export async function countFaults(
  registry: Registry,
  upstream: string,
  kinds: readonly string[],
): Promise<number> {
  const values = await valuesOf(registry, 'chainstead_rpc_faults_total', upstream);
  return values
    .filter(({ labels }) => kinds.includes(String(labels.kind)))
    .reduce((sum, { value }) => sum + value, 0);
}

/** The newest block of an upstream, by the metric; undefined before the first. */
export async function headByMetric(registry: Registry, upstream: string): Promise<number | undefined> {
  const [head] = await valuesOf(registry, 'chainstead_rpc_upstream_head', upstream);
  return head?.value;
}

async function valuesOf(registry: Registry, name: string, upstream: string) {
  const metric = registry.getSingleMetric(name);
  if (metric === undefined) throw new Error(`${name} is not registered`);
  const { values } = await metric.get();
  return values.filter(({ labels }) => labels.upstream === upstream);
}

/** The name under which the pool counts the node of a URL. */
export function upstreamName(url: string): string {
  return new URL(url).host;
}

/** Each look takes processor time from what is waited for: what is not there at once is looked for less and less often. */
const FIRST_PAUSE_MS = 10;
const PAUSE_MAX_MS = 100;

/** Long enough for a machine that stands still now and then: how quick something is, is never what a test waits for. */
const PATIENCE_MS = 120_000;

/**
 * Asks again and again until the condition gives null; it gives what is still missing otherwise.
 * @param pauseMaxMs between two looks
 */
export async function waitUntil(
  condition: () => Promise<string | null> | string | null,
  timeoutMs = PATIENCE_MS,
  pauseMaxMs = PAUSE_MAX_MS,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let missing: string | null = 'nothing was checked';
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(1.5 * pauseMs, pauseMaxMs)) {
    try {
      missing = await condition();
    } catch (error) {
      missing = errorText(error);
    }
    if (missing === null) return;
    if (Date.now() > deadline) throw new Error(`After ${timeoutMs} ms: ${missing}`);
    await systemClock.sleep(pauseMs);
  }
}
