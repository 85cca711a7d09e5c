/** A scripted chain with one node, and the dependencies of engine parts that work on it. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import {
  type Clock,
  createMetricsRegistry,
  type Hash,
  mergeRanges,
  silentLogger,
  systemClock,
} from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import type { HistorySources } from '@chainstead/sources';
import {
  type ChainNode,
  type Closable,
  closeOf,
  createScriptedChain,
  type FaultSettings,
  type RpcHandler,
  type ScriptedChain,
  serveScriptedChain,
  traceMethods,
} from '@chainstead/testkit';
import { expect, vi } from 'vitest';
import { createChainSync } from '../chain-sync.ts';
import { saveChainStart } from '../checkpoint.ts';
import { type ClaimOwner, createClaimOwner } from '../coverage/claims.ts';
import { listCoverage } from '../coverage/coverage.ts';
import type { RetentionSettings } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { registerProjections } from '../projections/projection-record.ts';
import { createKnownContracts, type KnownContracts } from '../rows/known-contracts.ts';
import { createSyncMetrics, type SyncMetrics } from '../sync-metrics.ts';

export interface ScriptedStage extends Closable {
  readonly chain: Chain;
  readonly scripted: ScriptedChain;
  readonly node: ChainNode;
  readonly pool: UpstreamPool;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly owner: ClaimOwner;
  readonly knownContracts: KnownContracts;
  readonly metrics: SyncMetrics;
  readonly clock: Clock;
  readonly logger: ReturnType<typeof silentLogger>;
  readonly policy: 'strict';
  /** Returns all metrics of the stage in Prometheus format. */
  metricsText(): Promise<string>;
  callsOf(method: string): number;
  /** Returns a dataset's coverage and its levels. */
  coverageOf(dataset: Pick<Dataset, 'name'>): Promise<{
    readonly ranges: readonly { readonly from: number; readonly to: number }[];
    readonly levels: readonly string[];
  }>;
  /** Counts the stored marks and the chain's marks in these blocks. */
  marksOf(first: number, last: number): Promise<{ readonly stored: number; readonly expected: number }>;
  /** Runs the chain's sync from block 1 until it is stopped or the stage closes. */
  sync(
    datasets: readonly Dataset[],
    retention?: RetentionSettings,
    sources?: HistorySources,
  ): { stop(): Promise<void> };
  /** Waits until the dataset covers all blocks from 1. @param to last block @default the current head */
  untilCovered(dataset: Pick<Dataset, 'name'>, to?: number): Promise<void>;
}

export interface ScriptedStageOptions {
  readonly blocks: number;
  readonly faults?: Partial<FaultSettings>;
  /** Chain properties. @default those of an additional chain */
  readonly facts?: { readonly pollIntervalMs?: number; readonly reorgDepthMax?: number };
  /** See `ScriptedChainOptions`. */
  readonly finalityDepth?: number | null;
  /** See `ScriptedChainOptions`. */
  readonly isSigned?: boolean;
  /** First followed block; null: the chain's sync sets it. @default the block after `blocks`, which was followed */
  readonly firstFollowed?: number | null;
  /** Speed of the stage's clock relative to real time. @default 100 */
  readonly speed?: number;
  /** Number in the pool, all of which are the node. @default 1 */
  readonly upstreams?: number;
  /** Responds to a call instead of the node, or through it. */
  answer?(method: string, params: readonly unknown[], own: RpcHandler): ReturnType<RpcHandler>;
}

/** The first followed block links the blocks below it. */
async function follow(database: Database, { id }: Chain, number: number, parentHash: Hash | null): Promise<void> {
  const [hash, parent] = ['f0'.repeat(32), parentHash?.slice(2) ?? null];
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, parent_hash, block_timestamp)
      VALUES (${id}, ${number}, decode(${hash}, 'hex'), decode(${parent}, 'hex'), now())`,
  );
  await database.query(
    sql`UPDATE sync_chains SET checkpoint = ${number}, checkpoint_hash = decode(${hash}, 'hex') WHERE chain_id = ${id}`,
  );
}

/** @param chainId unique in the database */
export async function openScriptedStage(
  database: Database,
  chainId: number,
  datasets: readonly Dataset[],
  {
    blocks,
    faults = {},
    facts,
    finalityDepth,
    isSigned = false,
    firstFollowed,
    speed = 100,
    upstreams = 1,
    answer = (_method, params, own) => own(params),
  }: ScriptedStageOptions,
): Promise<ScriptedStage> {
  const own = {
    key: `stage-${chainId}`,
    id: chainId,
    headerHash: true,
    proofPolicy: 'strict',
    ...facts,
  } as const;
  const chain = createChainRegistry({ additional: [own] }).get(chainId);
  const finality = finalityDepth === undefined ? {} : { finalityDepth };
  const scripted = createScriptedChain({
    seed: chainId,
    chainId,
    wallets: 10,
    creationShare: 0.2,
    isSigned,
    ...finality,
  });
  scripted.mine(blocks);
  await using parts = new AsyncDisposableStack();
  const serving = await serveScriptedChain(scripted, {
    faults,
    methods: (view, methods) =>
      new Map(
        [...methods, ...traceMethods(view)].map(([method, handler]) => [
          method,
          (params) => answer(method, params, handler),
        ]),
      ),
  });
  const node = parts.adopt(serving, (one) => one.close());
  const registry = createMetricsRegistry();
  const logger = silentLogger();
  const pool = parts.adopt(
    createUpstreamPool({
      chain,
      upstreams: Array.from({ length: upstreams }, () => ({ url: node.url })),
      logger,
      metrics: registry,
    }),
    (one) => one.close(),
  );
  await pool.start();
  if (firstFollowed !== null) {
    const first = firstFollowed ?? blocks + 1;
    await saveChainStart(database, chain, 1, first);
    await registerProjections(database, chain, datasets);
    if (firstFollowed === undefined) await follow(database, chain, first, scripted.blockAt(blocks)?.hash ?? null);
  }
  const metrics = createSyncMetrics(registry);
  const clock: Clock = {
    now: () => Date.now() * speed,
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  };
  const owner = parts.adopt(await createClaimOwner(database), (one) => one.close());
  const running: (() => Promise<void>)[] = [];
  parts.defer(async () => {
    for (const stop of running) await stop();
  });
  const coverageOf: ScriptedStage['coverageOf'] = async ({ name }) => {
    const covered = (await listCoverage(database, chain.id)).filter(({ dataset }) => dataset === name);
    return {
      ranges: mergeRanges(covered.map(({ range }) => range)),
      levels: [...new Set(covered.map(({ proof }) => proof))].sort(),
    };
  };
  return {
    chain,
    scripted,
    node,
    pool,
    database,
    datasets,
    owner,
    knownContracts: createKnownContracts(),
    metrics,
    clock,
    logger,
    policy: 'strict',
    metricsText: () => registry.metrics(),
    callsOf: (method) => node.counters.snapshot().calls[method] ?? 0,
    coverageOf,
    marksOf: async (first, last) => {
      const [row] = await database.query<{ stored: number }>(
        sql`SELECT count(*)::int AS stored FROM marks WHERE chain_id = ${chainId}`,
      );
      return { stored: row?.stored ?? 0, expected: scripted.expectedTransfers({ from: first, to: last }).length };
    },
    sync: (datasets, retention, sources) => {
      const abort = new AbortController();
      const settings = {
        startBlock: 1,
        endBlock: null,
        proof: 'strict',
        backfillProof: 'none',
        backfillOrder: 'newest-first',
        verifyBlocksPerSecond: 1_000,
        retention,
      } as const;
      const options = { chain, pool, sources, database, logger, metrics, clock, settings };
      const finished = createChainSync({ ...options, datasets }).run(abort.signal);
      const stop = async (): Promise<void> => {
        abort.abort();
        await finished;
      };
      running.push(stop);
      return { stop };
    },
    untilCovered: (dataset, to = scripted.head) =>
      vi.waitFor(async () => expect((await coverageOf(dataset)).ranges).toEqual([{ from: 1, to }]), {
        timeout: 25_000,
        interval: 30,
      }),
    ...closeOf(parts),
  };
}
