/** A devnet's chain that keeps transactions of the wallets which are asked for, as roles of the program work on it. For tests. */
import { createWalletHistory } from '@chainstead/answers';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createJobs } from '@chainstead/jobs';
import { createUpstreamPool, RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import { createChainSync, createSyncMetrics } from '@chainstead/sync';
import { type AskedWallets, createAskedWallets } from '../asked-wallets.ts';
import { createWalletsWatcher } from '../create-wallets-watcher.ts';
import { readReceiver } from '../read-received.ts';
import { readSender } from '../read-sent.ts';
import type { WalletSearch } from '../read-wallet-search.ts';

/** Blocks that a reorganisation may take. */
export const STAGE_REORG_DEPTH = 8;
/** Longer than a busy machine stands still: work that is taken for lost begins again beside itself, and its calls count twice. */
const LOCK_MS = 20_000;

export function stageChain(chainId: number, mode: Chain['transactions']['mode'] = 'wallets'): Chain {
  const transactions = { mode, input: 'full', provesSenders: true } as const;
  const shown = { key: `wallets-${chainId}`, id: chainId, pollIntervalMs: 20, headerHash: true, transactions };
  return createChainRegistry({
    additional: [{ ...shown, confirmations: 2, reorgDepthMax: STAGE_REORG_DEPTH, proofPolicy: 'strict' }],
  }).get(chainId);
}

const NOT_THERE = { code: -32_601, message: 'the method does not exist' };
/** For a proxy: what a node without an index of accounts says. */
export const WITHOUT_INDEX = { ots_searchTransactionsBefore: NOT_THERE, trace_filter: NOT_THERE };

/** Before each test rather than after it: what the last one had at work ends behind its hooks. */
export async function emptyStage(database: Database): Promise<void> {
  await database.query(
    `TRUNCATE transactions, account_transactions, internal_transfers, asked_wallets, wallet_watches, subject_histories, subject_ranges, sync_chains, sync_ranges, blocks`,
  );
}

/** A pool over a node without an index of accounts, as nearly all are. */
export async function halvingPool(chain: Chain, url: string): Promise<UpstreamPool> {
  const pool = await stagePool(chain, [url]);
  return {
    ...pool,
    request: async (method, params, options) => {
      if (!(method in WITHOUT_INDEX)) return pool.request(method, params, options);
      throw new RpcCallError({ ...{ upstream: url, method }, rpcCode: NOT_THERE.code, rpcMessage: NOT_THERE.message });
    },
  };
}

/** Asks for a wallet, as a request without a key does. @throws Error where its chain keeps no transactions of single wallets */
export async function askFor(
  asked: AskedWallets,
  database: Database,
  chain: Chain,
  wallet: Address,
): Promise<WalletSearch> {
  const search = await asked.ask({ database, logger: silentLogger() }, chain, wallet, null);
  if (search === null) throw new Error(`${wallet} can't be asked for`);
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
  readonly asked: AskedWallets;
  stop(): Promise<void>;
}

export interface StageOptions {
  readonly database: Database;
  readonly databaseUrl: string;
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
  /** How long what a process had in hand is waited for when it is killed. @default 20,000 */
  readonly lockMs?: number;
}

/** What a process does: it follows the chain, and reads what was asked for. */
export async function startRoles(options: StageOptions): Promise<StageRoles> {
  const {
    database,
    databaseUrl,
    chain,
    pool,
    roles = ['ingest', 'worker'],
    maxCalls = 100_000,
    lockMs = LOCK_MS,
  } = options;
  const logger = silentLogger();
  const clock = systemClock;
  const ended = new AbortController();
  await using parts = new AsyncDisposableStack();
  const jobs = parts.adopt(await createJobs({ databaseUrl, logger, metrics: createMetricsRegistry() }), (one) =>
    one.close(60_000),
  );
  const histories = createWalletHistory({
    ...{ jobs, chains: [chain], datasets: [], maxCalls, perKey: 1_000 },
    lockMs,
  });
  if (roles.includes('worker'))
    await histories.work({
      ...{ database, clock, logger, readSender, readReceiver },
      chains: [{ chain, pool }],
      metrics: createMetricsRegistry(),
      sweepEveryMs: 100,
      sliceMs: options.sliceMs ?? 10_000,
    });
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
      proverRate: 0,
    },
  });
  const owned = parts.move();
  const following = roles.includes('ingest') ? sync.run(ended.signal) : Promise.resolve();
  return {
    asked: createAskedWallets(histories, options.waitMs ?? 0),
    async stop() {
      ended.abort();
      // A read that is broken off would hold its lock until the lock expires.
      await Promise.all([following, owned.disposeAsync()]);
    },
  };
}
