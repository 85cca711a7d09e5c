import { sql } from '@chainstead/db';
import { type BenchNode, type ScratchDatabase, startBenchNode } from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { alternate } from '../alternate.ts';
import { CHAIN_ID } from '../bench-chain.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { runFollowing } from '../follow-run.ts';
import { leaveReusableLog } from '../reusable-log.ts';
import { quantile } from '../statistics.ts';
import { MARKET_DATASETS, seedTradedPools, tradedPools } from '../traded-pools.ts';

const BLOCK_MS = 50;
/** Blocks that exist before following begins, and blocks that are followed before the figures count. */
const BLOCKS_BEFORE = 200;
const WARM_UP_BLOCKS = 100;
const TRANSACTIONS_PER_BLOCK = 200;
const LOGS_PER_TRANSACTION = 2;
/** Share of the logs, as on Ethereum. */
const NFT_SHARE = 0.2;
/** An eighth of the logs are swaps. */
const MARKET = tradedPools(0.25);
const WITHOUT_MARKETS = new Set<string>(MARKET_DATASETS);
const DATASETS_WITHOUT_MARKETS = datasets
  .flatMap(({ name }) => (WITHOUT_MARKETS.has(name) ? [] : [name]))
  .join(',');

/** Delay of a followed block, with all of its data stored: transactions with their senders, accounts, logs, transfers, NFTs. */
export const follow: Benchmark = {
  name: 'follow',
  title: 'Following 20 blocks a second of 200 transactions with all datasets, announcement to API response',
  async run({ server, sizes, runs, say }) {
    const blocks = (sizes.followSeconds * 1_000) / BLOCK_MS + WARM_UP_BLOCKS;
    const follow = async (env: Readonly<Record<string, string>>): Promise<Followed> => {
      const node = await startGrowingNode(blocks);
      const scratch = await server.createDatabase();
      try {
        await seedTradedPools(scratch.database, MARKET);
        await leaveReusableLog(scratch);
        const plan = {
          node,
          databaseUrl: scratch.url,
          blocksBefore: BLOCKS_BEFORE,
          blocks,
          blockMs: BLOCK_MS,
          env,
        };
        const { latencies, cpuSeconds } = await runFollowing(plan);
        await requireAll(scratch, BLOCKS_BEFORE + 1, blocks, env);
        return { latencies: latencies.slice(WARM_UP_BLOCKS), cpuMs: (1_000 * cpuSeconds) / blocks };
      } finally {
        await scratch.drop();
        await node.stop();
      }
    };
    const { first, second } = await alternate(
      runs,
      { name: 'all datasets', run: () => follow({}) },
      { name: 'without those of markets', run: () => follow({ DATASETS: DATASETS_WITHOUT_MARKETS }) },
      say,
    );
    const all = (figure: (latencies: readonly number[]) => number): number[] =>
      first.map(({ latencies }) => figure(latencies));
    const p99 = (latencies: readonly number[]): number => quantile(latencies, 0.99);
    return {
      comparisons: [
        {
          name: 'p99 of all datasets, without those of markets',
          unit: 'ms',
          ...{ ours: all(p99), peer: second.map(({ latencies }) => p99(latencies)), target: { atMost: 1.25 } },
        },
      ],
      measures: [
        { name: 'announcement to API response, p50', unit: 'ms', samples: all((one) => quantile(one, 0.5)) },
        { name: 'announcement to API response, p99', unit: 'ms', samples: all(p99) },
        { name: 'announcement to API response, worst', unit: 'ms', samples: all((one) => Math.max(...one)) },
        { name: 'processor time per block', unit: 'ms', samples: first.map(({ cpuMs }) => cpuMs) },
      ],
      notes: [
        `${blocks - WARM_UP_BLOCKS} blocks per run, each one proven. The head is polled every 10 ms. Postgres reuses its WAL segments.`,
        'TRANSACTIONS_ETH=all and LOGS_ETH=all, defaults otherwise: whole calldata, recovered senders, no internal transfers.',
      ],
    };
  },
};

interface Followed {
  readonly latencies: readonly number[];
  /** Processor time of the ingest process and of its start, per followed block. */
  readonly cpuMs: number;
}

function startGrowingNode(blocks: number): Promise<BenchNode> {
  return startBenchNode({
    chainId: CHAIN_ID,
    blocks: BLOCKS_BEFORE + blocks,
    faults: { lagBlocks: blocks },
    transactionsPerBlock: TRANSACTIONS_PER_BLOCK,
    logsPerTransaction: LOGS_PER_TRANSACTION,
    nftShare: NFT_SHARE,
    market: MARKET,
    // Each signer sends one transaction per block, so any of them can be watched.
    signers: TRANSACTIONS_PER_BLOCK,
  });
}

/** @throws BenchmarkError if rows are missing */
async function requireAll(
  { database }: ScratchDatabase,
  first: number,
  blocks: number,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const [found] = await database.query<{
    transactions: number;
    senders: number;
    logs: number;
    hasSwaps: boolean;
  }>(
    sql`SELECT (SELECT count(*) FROM transactions WHERE block_number >= ${first} AND sender_recovered) AS transactions,
       (SELECT count(*) FROM account_transactions WHERE block_number >= ${first} AND roles > 0 AND roles & 1 = 1) AS senders,
       (SELECT count(*) FROM logs WHERE block_number >= ${first}) AS logs,
       EXISTS (SELECT FROM swaps WHERE block_number >= ${first}) AS has_swaps`,
  );
  const transactions = blocks * TRANSACTIONS_PER_BLOCK;
  const wanted = {
    ...{ transactions, senders: transactions, logs: transactions * LOGS_PER_TRANSACTION },
    hasSwaps: env.DATASETS === undefined,
  };
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new BenchmarkError(`${JSON.stringify(found)} rows were written instead of ${JSON.stringify(wanted)}`);
}
