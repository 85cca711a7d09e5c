/** A scripted chain that the real engine follows into a database, with a watcher. For tests. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import {
  type Address,
  createMetricsRegistry,
  type Log,
  parseAddress,
  silentLogger,
  systemClock,
  toQuantity,
} from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { parseBlock, parseReceipt, type UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import type { BlockWatcher, WatchedBlock } from '@chainstead/sync';
import { createChainSync, createSyncMetrics } from '@chainstead/sync/ingest';
import {
  createScriptedChain,
  type JsonObject,
  type ScriptedBlock,
  type ScriptedChain,
  serveScriptedChain,
} from '@chainstead/testkit';
import { expect, vi } from 'vitest';
import { createStreamsWatcher } from '../create-streams-watcher.ts';

export interface FollowedChain {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly scripted: ScriptedChain;
  /** Starts an ingest process; `stop` ends it. */
  start(watcher?: BlockWatcher): { stop(): Promise<void> };
  /** Resolves when the head of the chain is committed. */
  caughtUp(): Promise<void>;
  /** Returns a block of the canonical chain without using the engine. */
  blockAt(number: number): WatchedBlock;
  /** Calls that the node received. */
  requests(method: string): number;
  close(): Promise<void>;
}

export const FOLLOWED_CONFIRMATIONS = 4;

export async function openFollowedChain(database: Database, chainId: number): Promise<FollowedChain> {
  const chain = createChainRegistry({
    additional: [
      {
        key: `followed-${chainId}`,
        id: chainId,
        confirmations: FOLLOWED_CONFIRMATIONS,
        pollIntervalMs: 10,
        headerHash: true,
      },
    ],
  }).get(chainId);
  const scripted = createScriptedChain({ seed: chainId, chainId, wallets: 12, transactionsMax: 3, stepsMax: 2 });
  scripted.mine(3);
  const node = await serveScriptedChain(scripted, {
    methods: ({ source }) =>
      new Map([
        [
          'debug_traceBlockByHash',
          ([hash]) => {
            const block = source.blockByHash(String(hash));
            return block === undefined ? { result: null } : { result: block.transactions.map(traceOf) };
          },
        ],
      ]),
  });
  const registry = createMetricsRegistry();
  const logger = silentLogger();
  const pool = createUpstreamPool({ chain, upstreams: [{ url: node.url }], logger, metrics: registry });
  await pool.start();
  const metrics = createSyncMetrics(registry);
  return {
    chain,
    pool,
    scripted,
    start(watcher = createStreamsWatcher({ database })) {
      const ended = new AbortController();
      const sync = createChainSync({
        chain,
        pool,
        database,
        datasets: [],
        logger,
        metrics,
        clock: systemClock,
        watcher,
        settings: {
          startBlock: null,
          endBlock: null,
          proof: 'strict',
          backfillProof: 'none',
          backfillOrder: 'newest-first',
          verifyBlocksPerSecond: 0,
        },
      });
      const running = sync.run(ended.signal);
      return {
        async stop() {
          ended.abort();
          await running;
        },
      };
    },
    caughtUp: () =>
      vi.waitFor(
        async () => {
          const [row] = await database.query<{ hash: string | null }>(
            sql`SELECT '0x' || encode(checkpoint_hash, 'hex') AS hash FROM sync_chains WHERE chain_id = ${chainId}`,
          );
          expect(row?.hash).toBe(scripted.blockAt(scripted.head)?.hash);
        },
        { timeout: 20_000, interval: 10 },
      ),
    blockAt(number) {
      const block = scripted.blockAt(number);
      if (block === undefined) throw new Error(`There is no block ${number}`);
      return watchedBlock(block);
    },
    requests: (method) => node.counters.calls[method] ?? 0,
    async close() {
      await pool.close();
      await node.close();
    },
  };
}

function watchedBlock(scripted: ScriptedBlock): WatchedBlock {
  const block = parseBlock({ ...scripted.header, transactions: scripted.transactions });
  const receipts = scripted.receipts.map(parseReceipt);
  const logs: Log[] = receipts.flatMap((receipt) => receipt.logs);
  const internalTransfers = scripted.scripted.flatMap(({ hash, from, to }) =>
    to === null ? [] : [{ transactionHash: hash, from: to, to: from, value: REFUND, gas: 1n }],
  );
  return { header: block.header, block, receipts, logs, internalTransfers };
}

/** Wei. Every contract of the chain sends this amount back. */
const REFUND = 5n;

function traceOf({ hash, from, to }: JsonObject): JsonObject {
  const refund = { type: 'CALL', from: to, to: from, value: toQuantity(REFUND), gas: '0x1' };
  return { txHash: hash, result: { type: 'CALL', from, to, value: '0x0', gas: '0x2', calls: [refund] } };
}

/** Returns the wallets in the transactions of a scripted chain. */
export function walletsOf({ scripted }: FollowedChain, from: number, to: number): Address[] {
  return scripted.wallets.slice(from, to).map(parseAddress);
}
