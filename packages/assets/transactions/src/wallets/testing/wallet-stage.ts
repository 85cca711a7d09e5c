/** A devnet's chain that stores the transactions of requested wallets, with the program's roles. For tests. */

import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, silentLogger, systemClock, waitingAtMost } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { createDueWork } from '@chainstead/jobs/worker';
import { createOnDemandBackfill } from '@chainstead/pages/on-demand';
import { RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createChainSync, createSyncMetrics } from '@chainstead/sync/ingest';
import { createWalletsWatcher } from '../create-wallets-watcher.ts';
import { readReceiver } from '../read-received.ts';
import { readSender } from '../read-sent.ts';
import type { WalletSearch } from '../read-wallet-search.ts';
import { createTrackedWallets, type TrackedWallets } from '../tracked-wallets.ts';

/** The reorg depth in blocks. */
export const STAGE_REORG_DEPTH = 8;
/** Longer than a busy machine stalls: work that counts as lost would be started twice, and its calls counted twice. */
const LOCK_MS = 20_000;

export function stageChain(chainId: number, mode: Chain['transactions']['mode'] = 'wallets'): Chain {
  const transactions = { mode, input: 'full', verifiesSenders: true } as const;
  const shown = { key: `wallets-${chainId}`, id: chainId, pollIntervalMs: 20, headerHash: true, transactions };
  return createChainRegistry({
    additional: [{ ...shown, confirmations: 2, reorgDepthMax: STAGE_REORG_DEPTH, proofPolicy: 'strict' }],
  }).get(chainId);
}

const NOT_THERE = { code: -32_601, message: 'the method does not exist' };
/** For a proxy: the responses of a node without an account index. */
export const WITHOUT_INDEX = { ots_searchTransactionsBefore: NOT_THERE, trace_filter: NOT_THERE };

/** Runs before each test rather than after it: the previous test's work ends after its hooks. */
export async function emptyStage(database: Database): Promise<void> {
  await database.query(
    sql`TRUNCATE transactions, account_transactions, internal_transfers, tracked_wallets, wallet_scan_state, backfill_requests, subject_ranges, sync_chains, sync_ranges, blocks`,
  );
}

/** A pool over a node without an account index, as nearly all are. */
export async function halvingPool(chain: Chain, url: string): Promise<UpstreamPool> {
  const pool = await stagePool(chain, [url]);
  return {
    ...pool,
    request: async (method, params, options) => {
      if (!(method in WITHOUT_INDEX)) return pool.request(method, params, options);
      throw new RpcCallError({
        ...{ upstream: url, method },
        rpcCode: NOT_THERE.code,
        rpcMessage: NOT_THERE.message,
      });
    },
  };
}

/**
 * Requests a wallet, as a request without a key does.
 * @throws Error if its chain stores no transactions of single wallets
 */
export async function requestFor(
  requested: TrackedWallets,
  database: Database,
  chain: Chain,
  wallet: Address,
): Promise<WalletSearch> {
  const search = await requested.ask({ database, logger: silentLogger() }, chain, wallet, null);
  if (search === null) throw new Error(`${wallet} can't be requested`);
  return search;
}

export async function stagePool(chain: Chain, urls: readonly string[]): Promise<UpstreamPool> {
  const pool = createUpstreamPool({
    chain,
    upstreams: urls.map((url) => ({ url })),
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
  });
  await pool.start();
  return pool;
}

export interface StageRoles {
  /** The side of requests. */
  readonly requested: TrackedWallets;
  stop(): Promise<void>;
}

export interface StageOptions {
  readonly database: Database;
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  /** @default both */
  readonly roles?: readonly ('ingest' | 'worker')[];
  /** @default 100,000 */
  readonly maxCalls?: number;
  /** @default 10,000 */
  readonly sliceMs?: number;
  /** How long the first request for a wallet waits. @default 0 */
  readonly waitMs?: number;
  /** How long a killed process's work stays locked. @default 20,000 */
  readonly lockMs?: number;
}

/** Starts a process's roles: it follows the chain, and reads requested data. */
export async function startRoles(options: StageOptions): Promise<StageRoles> {
  const { database, chain, pool, roles = ['ingest', 'worker'], maxCalls = 100_000, lockMs = LOCK_MS } = options;
  const logger = silentLogger();
  const clock = systemClock;
  const ended = new AbortController();
  await using parts = new AsyncDisposableStack();
  const histories = createOnDemandBackfill({ chains: [chain], datasets: [], maxCalls, perKey: 1_000 });
  const shared = { database, clock, logger, metrics: createMetricsRegistry() };
  const dueWork = createDueWork({ ...shared, leaseMs: lockMs, sweepEveryMs: 100 });
  histories.work(dueWork, {
    ...{ ...shared, readSender, readReceiver },
    chains: [{ chain, pool }],
    sliceMs: options.sliceMs ?? 10_000,
  });
  parts.defer(() => dueWork.close(60_000));
  if (roles.includes('worker')) dueWork.start();
  const sync = createChainSync({
    ...{ chain, pool, database, logger, clock },
    datasets: [],
    metrics: createSyncMetrics(createMetricsRegistry()),
    watcher: createWalletsWatcher({ database, clock, logger }),
    settings: {
      startBlock: null,
      endBlock: null,
      proof: 'strict',
      backfillProof: 'none',
      backfillOrder: 'newest-first',
      verifyBlocksPerSecond: 0,
    },
  });
  const tracked = createTrackedWallets(histories);
  const owned = parts.move();
  const following = roles.includes('ingest') ? sync.run(ended.signal) : Promise.resolve();
  return {
    requested: { ask: (...asked) => waitingAtMost(options.waitMs ?? 0, () => tracked.ask(...asked)) },
    async stop() {
      ended.abort();
      // An aborted read would hold its lock until the lock expires.
      await Promise.all([following, owned.disposeAsync()]);
    },
  };
}
