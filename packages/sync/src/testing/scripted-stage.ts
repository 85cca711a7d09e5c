/** A scripted chain with one node, and what the engine's parts are given to work on it. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Clock, createMetricsRegistry, mergeRanges, silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createUpstreamPool, type UpstreamPool } from '@chainstead/rpc';
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
import { type ClaimOwner, createClaimOwner } from '../claims.ts';
import { listCoverage } from '../coverage.ts';
import type { Dataset } from '../dataset.ts';
import { registerDerivedStates } from '../derived/derived-record.ts';
import type { KeepSettings } from '../keep-settings.ts';
import { createKnownContracts, type KnownContracts } from '../known-contracts.ts';
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
  /** Every metric of the stage, as Prometheus reads them. */
  metricsText(): Promise<string>;
  callsOf(method: string): number;
  /** What a dataset covers, with the levels that it has there. */
  coverageOf(dataset: Pick<Dataset, 'name'>): Promise<{
    readonly ranges: readonly { readonly from: number; readonly to: number }[];
    readonly levels: readonly string[];
  }>;
  /** Whether the marks are those of the chain in these blocks, and there are no others. */
  marksOf(first: number, last: number): Promise<{ readonly stored: number; readonly expected: number }>;
  /** Runs the chain's sync from block 1 on, until it is stopped or the stage closes. */
  sync(datasets: readonly Dataset[], keep?: KeepSettings): { stop(): Promise<void> };
  /** Waits until the dataset covers all blocks from 1 on. @param to default: the head by then */
  untilCovered(dataset: Pick<Dataset, 'name'>, to?: number): Promise<void>;
}

export interface ScriptedStageOptions {
  readonly blocks: number;
  readonly faults?: Partial<FaultSettings>;
  /** The chain's own. @default those of an additional chain */
  readonly facts?: { readonly pollIntervalMs?: number; readonly reorgDepthMax?: number };
  /** As in `ScriptedChainOptions`. */
  readonly finalityDepth?: number | null;
  /** First followed block; null: the chain's sync begins the chain. @default the one behind the blocks */
  readonly firstFollowed?: number | null;
  /** How many times faster than the wall clock the stage's clock runs. @default 100 */
  readonly speed?: number;
  /** Answers a call in the node's place, or has the node answer it. */
  answer?(method: string, params: readonly unknown[], own: RpcHandler): ReturnType<RpcHandler>;
}

/** @param chainId of its own among those of the database */
export async function openScriptedStage(
  database: Database,
  chainId: number,
  datasets: readonly Dataset[],
  {
    blocks,
    faults = {},
    facts,
    finalityDepth,
    firstFollowed = blocks + 1,
    speed = 100,
    answer = (_method, params, own) => own(params),
  }: ScriptedStageOptions,
): Promise<ScriptedStage> {
  const own = { key: `stage-${chainId}`, id: chainId, headerHash: true, proofPolicy: 'strict', ...facts } as const;
  const chain = createChainRegistry({ additional: [own] }).get(chainId);
  const finality = finalityDepth === undefined ? {} : { finalityDepth };
  const scripted = createScriptedChain({ seed: chainId, chainId, wallets: 10, creationShare: 0.2, ...finality });
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
    createUpstreamPool({ chain, upstreams: [{ url: node.url }], logger, metrics: registry }),
    (one) => one.close(),
  );
  await pool.start();
  if (firstFollowed !== null) {
    await saveChainStart(database, chain, 1, firstFollowed);
    await registerDerivedStates(database, chain, datasets);
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
        'SELECT count(*)::int AS stored FROM marks WHERE chain_id = $1',
        [chainId],
      );
      return { stored: row?.stored ?? 0, expected: scripted.expectedTransfers({ from: first, to: last }).length };
    },
    sync: (kept, keep) => {
      const abort = new AbortController();
      const settings = {
        startBlock: 1,
        endBlock: null,
        proof: 'strict',
        backfillProof: 'none',
        backfillOrder: 'newest-first',
        proverRate: 1_000,
        keep,
      } as const;
      const options = { chain, pool, database, logger, metrics, clock, settings };
      const finished = createChainSync({ ...options, datasets: kept }).run(abort.signal);
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
