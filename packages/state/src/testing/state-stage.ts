import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, parseHash, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes } from '@chainstead/db';
import { createJobs, type Jobs, type JobsOptions } from '@chainstead/jobs';
import { createUpstreamPool, type UpstreamPool } from '@chainstead/rpc';
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
import type { StateReader } from '../state-kind.ts';
import { createStateQuestions, type StateQuestions } from '../state-questions.ts';
import { createStateWorker } from '../state-worker.ts';
import { type AlteredNode, alterNode } from './altered-node.ts';
import { clockOfWaits } from './clock-of-waits.ts';

export interface StateStageOptions {
  /** Facts of the chain, whose id is 1 and whose key is `eth`. */
  readonly chain?: Parameters<typeof exampleChain>[0];
  /** How many upstreams the devnet is, each of which a test may alter. Default: one. */
  readonly upstreams?: number;
  /** Where the queues are. Default: the scratch database. */
  readonly home?: Pick<JobsOptions, 'databaseUrl' | 'redisUrl' | 'prefix'>;
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
  readonly questions: StateQuestions;
  /** How often an answer was waited for. */
  waits(): number;
  readonly jobs: Jobs;
  /** A worker with queues of its own, which ends with the stage or before. */
  startWorker(readers: readonly StateReader[]): Promise<Jobs>;
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
  const openJobs = async () =>
    later.adopt(
      await createJobs({ ...(options.home ?? { databaseUrl: scratch.url }), logger, metrics: createMetricsRegistry() }),
      (one) => one.close(2_000),
    );
  const jobs = await openJobs();
  const clock = clockOfWaits();
  const questions = createStateQuestions({ database, jobs, chains: [chain], clock, logger });
  return {
    scratch,
    devnet,
    node,
    others,
    chain,
    pool,
    questions,
    waits: () => clock.waits,
    jobs,
    async startWorker(readers) {
      const own = await openJobs();
      const chains = [{ chain, pool }];
      const metrics = createMetricsRegistry();
      await createStateWorker({ database, jobs: own, chains, readers, clock: systemClock, logger, metrics }).start();
      return own;
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
    await transaction.query('DELETE FROM blocks WHERE chain_id = $1', [chain.id]);
    for (const { number, hash, timestamp } of blocks)
      await transaction.query(
        'INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES ($1, $2, $3, to_timestamp($4::float8))',
        [chain.id, Number(number), hexBytes(hash), Number(timestamp)],
      );
    await transaction.query(
      `INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint) VALUES ($1, 0, 0, $2)
       ON CONFLICT (chain_id) DO UPDATE SET checkpoint = excluded.checkpoint`,
      [chain.id, Number(head.number)],
    );
  });
  return { number: Number(head.number), hash: parseHash(head.hash), timestamp: Number(head.timestamp) };
}
