import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, parseHash, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { createDueWork } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import {
  type Closable,
  closeOf,
  createScratchDatabase,
  type Devnet,
  exampleChain,
  type ScratchDatabase,
  startDevnet,
} from '@chainstead/testkit';
import type { StateBlock } from '../committed-block.ts';
import { createNodeReadQueue, type NodeReadQueue } from '../queue/node-read-queue.ts';
import { addStateReads } from '../queue/state-worker.ts';
import type { StateReader } from '../state-kind.ts';
import { type AlteredNode, alterNode } from './altered-node.ts';
import { clockOfWaits } from './clock-of-waits.ts';

export interface StateStageOptions {
  /** Facts of the chain, whose id is 1 and whose key is `eth`. */
  readonly chain?: Parameters<typeof exampleChain>[0];
  /** How many upstreams the devnet is, each of which a test may alter. Default: one. */
  readonly upstreams?: number;
}

/** A devnet behind a node that a test may alter, a database, and both sides of questions. */
export interface StateStage extends Closable {
  readonly scratch: ScratchDatabase;
  readonly devnet: Devnet;
  readonly node: AlteredNode;
  /** The other upstreams. */
  readonly others: readonly AlteredNode[];
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly nodeReads: NodeReadQueue;
  /** How often an answer was waited for. */
  waits(): number;
  /** A worker, which ends with the stage. */
  startWorker(readers: readonly StateReader[]): Promise<void>;
  /** Makes the devnet's blocks up to its newest those that are indexed. @returns the newest */
  commit(): Promise<StateBlock>;
}

export async function openStateStage(options: StateStageOptions = {}): Promise<StateStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const devnet = parts.adopt(await startDevnet({ chainId: 1 }), (one) => one.stop());
  const openNode = async () => parts.adopt(await alterNode(devnet.url), (one) => one.close());
  const node = await openNode();
  const others: AlteredNode[] = [];
  while (others.length < (options.upstreams ?? 1) - 1) others.push(await openNode());
  const nodes = [node, ...others];
  const chain = exampleChain(options.chain);
  const pool = parts.adopt(await openPool(chain, ...nodes.map(({ url }) => url)), (one) => one.close());
  const { database } = scratch;
  const logger = silentLogger();
  // Closed before the pool and the nodes, as the workers still call them.
  const later = parts.use(new AsyncDisposableStack());
  const clock = clockOfWaits();
  const nodeReads = createNodeReadQueue({ database, chains: [chain], clock, logger });
  return {
    scratch,
    devnet,
    node,
    others,
    chain,
    pool,
    nodeReads,
    waits: () => clock.waits,
    async startWorker(readers) {
      const shared = { database, clock: systemClock, logger, metrics: createMetricsRegistry() };
      const dueWork = later.adopt(createDueWork(shared), (one) => one.close(2_000));
      addStateReads(dueWork, { ...shared, chains: [{ chain, pool }], readers });
      dueWork.start();
    },
    commit: () => commitBlocks(database, chain, devnet),
    ...closeOf(parts),
  };
}

/** Gives up at once where nodes refuse; one that says nothing has longer than a machine stalls. */
export async function openPool(chain: Chain, ...urls: readonly string[]): Promise<UpstreamPool> {
  const pool = createUpstreamPool({
    chain,
    upstreams: urls.map((url) => ({ url })),
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    limits: { rounds: 2, deadlineMs: 20_000, backOffMaxMs: 100, breakerOpenMs: 40, breakerOpenMaxMs: 80 },
  });
  await pool.start();
  return pool;
}

async function commitBlocks(database: Database, chain: Chain, devnet: Devnet): Promise<StateBlock> {
  const head = await devnet.client.getBlock();
  const blocks = await Promise.all(
    Array.from({ length: Number(head.number) + 1 }, (_, number) =>
      devnet.client.getBlock({ blockNumber: BigInt(number) }),
    ),
  );
  await database.transaction(async (transaction) => {
    await transaction.query(sql`DELETE FROM blocks WHERE chain_id = ${chain.id}`);
    for (const { number, hash, timestamp } of blocks)
      await transaction.query(
        sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${chain.id}, ${Number(number)}, ${hexBytes(hash)}, to_timestamp(${Number(timestamp)}::float8))`,
      );
    await transaction.query(
      sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint) VALUES (${chain.id}, 0, 0, ${Number(head.number)})
       ON CONFLICT (chain_id) DO UPDATE SET checkpoint = excluded.checkpoint`,
    );
  });
  return { number: Number(head.number), hash: parseHash(head.hash), timestamp: Number(head.timestamp) };
}
