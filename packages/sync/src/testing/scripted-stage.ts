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
  type ScriptedChain,
  serveScriptedChain,
  traceMethods,
} from '@chainstead/testkit';
import { saveChainStart } from '../checkpoint.ts';
import { type ClaimOwner, createClaimOwner } from '../claims.ts';
import { listCoverage } from '../coverage.ts';
import type { Dataset } from '../dataset.ts';
import { registerDerivedStates } from '../derived/derived-record.ts';
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
  callsOf(method: string): number;
  /** What a dataset covers, with the levels that it has there. */
  coverageOf(dataset: Pick<Dataset, 'name'>): Promise<{
    readonly ranges: readonly { readonly from: number; readonly to: number }[];
    readonly levels: readonly string[];
  }>;
  /** Whether the marks are those of the chain in these blocks, and there are no others. */
  marksOf(first: number, last: number): Promise<{ readonly stored: number; readonly expected: number }>;
}

/** @param chainId of its own among those of the database */
export async function openScriptedStage(
  database: Database,
  chainId: number,
  datasets: readonly Dataset[],
  { blocks, faults = {} }: { readonly blocks: number; readonly faults?: Partial<FaultSettings> },
): Promise<ScriptedStage> {
  const facts = { key: `stage-${chainId}`, id: chainId, headerHash: true, proofPolicy: 'strict' as const };
  const chain = createChainRegistry({ additional: [facts] }).get(chainId);
  const scripted = createScriptedChain({ seed: chainId, chainId, wallets: 10, creationShare: 0.2 });
  scripted.mine(blocks);
  await using parts = new AsyncDisposableStack();
  const node = parts.adopt(await serveScriptedChain(scripted, { faults, methods: traceMethods }), (one) => one.close());
  const registry = createMetricsRegistry();
  const logger = silentLogger();
  const pool = parts.adopt(
    createUpstreamPool({ chain, upstreams: [{ url: node.url }], logger, metrics: registry }),
    (one) => one.close(),
  );
  await pool.start();
  await saveChainStart(database, chain, 1, blocks + 1);
  await registerDerivedStates(database, chain, datasets);
  const owner = parts.adopt(await createClaimOwner(database), (one) => one.close());
  return {
    chain,
    scripted,
    node,
    pool,
    database,
    datasets,
    owner,
    knownContracts: createKnownContracts(),
    metrics: createSyncMetrics(registry),
    // Waits a hundredth of what it is told to.
    clock: { now: () => Date.now() * 100, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) },
    logger,
    policy: 'strict',
    callsOf: (method) => node.counters.snapshot().calls[method] ?? 0,
    coverageOf: async ({ name }) => {
      const own = (await listCoverage(database, chain.id)).filter(({ dataset }) => dataset === name);
      return {
        ranges: mergeRanges(own.map(({ range }) => range)),
        levels: [...new Set(own.map(({ proof }) => proof))].sort(),
      };
    },
    marksOf: async (first, last) => {
      const [row] = await database.query<{ stored: number }>(
        'SELECT count(*)::int AS stored FROM marks WHERE chain_id = $1',
        [chainId],
      );
      return { stored: row?.stored ?? 0, expected: scripted.expectedTransfers({ from: first, to: last }).length };
    },
    ...closeOf(parts),
  };
}
