import { sql } from '@chainstead/db';
import { type BenchNode, type BenchNodeOptions, type ScratchDatabase, startBenchNode } from '@chainstead/testkit';
import { rangeArguments } from '../backfill-run.ts';
import { CHAIN_ID, LOG_LIMIT } from '../bench-chain.ts';
import type { Benchmark, BenchmarkContext, BenchmarkReport } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { runFollowing } from '../follow-run.ts';
import { leaveReusableLog } from '../reusable-log.ts';
import { median } from '../statistics.ts';
import { MARKET_DATASETS, seedTradedPools, tradedPools } from '../traded-pools.ts';

const MEMORY_MB_MAX = 600;
/** Number of blocks that exist before following begins. */
const BLOCKS_BEFORE = 1;
/** They arrive faster than they can be written: the follower is never idle. */
const BIG_BLOCK_MS = 500;
const BIG = { transactionsPerBlock: 20_000, logsPerTransaction: 3 } as const;
const FAST = { transactionsPerBlock: 500, logsPerTransaction: 2 } as const;
const FAST_BLOCK_MS = 250;
const MARKET = tradedPools(0.25);
const SIGNERS = 2_000;
/** Signed, with all kinds of logs, as on Ethereum. */
const CONTENTS = { chainId: CHAIN_ID, nftShare: 0.2, market: MARKET, signers: SIGNERS } as const;
/** Delay of the last quarter against the second: more is a growing lag. */
const GROWTH_MAX = 1.25;

type BlockSize = Required<Pick<BenchNodeOptions, 'transactionsPerBlock' | 'logsPerTransaction'>>;

/** Blocks that other indexers skip, and a chain with a rate of transactions that few have. */
export const bigBlocks: Benchmark = {
  name: 'big-blocks',
  title: 'Blocks of 20,000 transactions and 60,000 logs in a row, and 4 blocks a second of 500 transactions',
  async run(context) {
    const big = await measureBig(context);
    const fast = await measureFast(context);
    return {
      comparisons: [],
      measures: [...big.measures, ...fast.measures],
      notes: [...big.notes, ...fast.notes],
    };
  },
};

async function measureBig({ server, sizes, runs, say }: BenchmarkContext): Promise<BenchmarkReport> {
  const blocks = sizes.bigBlocks;
  const node = await startBenchNode({
    ...CONTENTS,
    ...BIG,
    blocks: BLOCKS_BEFORE + blocks,
    finalityDepth: 0,
    faults: { logLimit: LOG_LIMIT },
  });
  const kinds = [
    { name: 'filtered logs', env: { BACKFILL_PROOF_ETH: 'none', TRANSACTIONS_ETH: 'off', LOGS_ETH: 'off' } },
    {
      name: 'proven, all datasets',
      env: { BACKFILL_PROOF_ETH: 'receipts', TRANSACTIONS_ETH: 'all', LOGS_ETH: 'all' },
    },
  ];
  const measures: BenchmarkReport['measures'][number][] = [];
  const add = (name: string, seconds: number[], megabytes: number[]): void => {
    measures.push(
      { name: `${name}, per block`, unit: 's', samples: seconds.map((all) => all / blocks) },
      { name: `${name}, peak memory`, unit: 'MB', samples: megabytes, target: { atMost: MEMORY_MB_MAX } },
    );
  };
  const measure = async (name: string, run: (scratch: ScratchDatabase) => Promise<Peak>): Promise<void> => {
    const seconds: number[] = [];
    const megabytes: number[] = [];
    for (let number = 0; number < runs; number++) {
      say(`  run ${number + 1} of ${runs}: ${name}`);
      const scratch = await server.createDatabase();
      try {
        await seedTradedPools(scratch.database, MARKET);
        await leaveReusableLog(scratch);
        const peak = await run(scratch);
        seconds.push(peak.seconds);
        megabytes.push(peak.bytes / 1e6);
        say(`    ${peak.seconds.toFixed(1)} s, ${(peak.bytes / 1e6).toFixed(0)} MB`);
      } finally {
        await scratch.drop();
      }
    }
    add(name, seconds, megabytes);
  };
  try {
    for (const { name, env } of kinds)
      await measure(name, async (scratch) => {
        const program = startChainstead(['backfill', ...rangeArguments(blocks)], {
          databaseUrl: scratch.url,
          rpcUrls: [node.url],
          env,
        });
        await program.finished();
        await requireRows(scratch, 1, blocks, { ...BIG, isWhole: env.LOGS_ETH === 'all' });
        return {
          seconds: program.elapsedMs() / 1_000,
          bytes: Math.max(...program.memory.map((one) => one.bytes)),
        };
      });
    await measure('followed, all datasets', async (scratch) => {
      await node.setFaults({ lagBlocks: blocks });
      const run = await runFollowing({
        ...{ node, databaseUrl: scratch.url, blocksBefore: BLOCKS_BEFORE, blocks, blockMs: BIG_BLOCK_MS },
      });
      await requireRows(scratch, BLOCKS_BEFORE + 1, blocks, { ...BIG, isWhole: true });
      return { seconds: (run.latencies.at(-1) ?? 0) / 1_000, bytes: run.peakMemory };
    });
  } finally {
    await node.stop();
  }
  const notes = [
    `${blocks} blocks of ${BIG.transactionsPerBlock} signed transactions with ${BIG.logsPerTransaction} logs each. getLogs returns ${LOG_LIMIT.maxResults} logs at most.`,
    `Followed: all blocks are announced within ${(blocks * BIG_BLOCK_MS) / 1_000} s. The time is that until the last one is served.`,
  ];
  return { comparisons: [], measures, notes };
}

interface Peak {
  readonly seconds: number;
  readonly bytes: number;
}

async function measureFast({ server, sizes, runs, say }: BenchmarkContext): Promise<BenchmarkReport> {
  const blocks = (sizes.fastBlocksSeconds * 1_000) / FAST_BLOCK_MS;
  say('  making the blocks');
  const node = await startBenchNode({ ...CONTENTS, ...FAST, blocks: BLOCKS_BEFORE + blocks, finalityDepth: 64 });
  const samples = {
    middle: [] as number[],
    worst: [] as number[],
    growth: [] as number[],
    memory: [] as number[],
  };
  const cpu: number[] = [];
  try {
    for (let number = 0; number < runs; number++) {
      say(`  run ${number + 1} of ${runs}: ${blocks} blocks, one each ${FAST_BLOCK_MS} ms`);
      await node.setFaults({ lagBlocks: blocks });
      const scratch = await server.createDatabase();
      try {
        await seedTradedPools(scratch.database, MARKET);
        await leaveReusableLog(scratch);
        const plan = {
          node,
          databaseUrl: scratch.url,
          blocksBefore: BLOCKS_BEFORE,
          blocks,
          blockMs: FAST_BLOCK_MS,
        };
        const { latencies, peakMemory, cpuSeconds } = await runFollowing(plan);
        await requireRows(scratch, BLOCKS_BEFORE + 1, blocks, { ...FAST, isWhole: true });
        const quarter = Math.floor(latencies.length / 4);
        samples.middle.push(median(latencies));
        samples.worst.push(Math.max(...latencies));
        samples.growth.push(median(latencies.slice(-quarter)) / median(latencies.slice(quarter, 2 * quarter)));
        samples.memory.push(peakMemory / 1e6);
        cpu.push((1_000 * cpuSeconds) / blocks);
      } finally {
        await scratch.drop();
      }
    }
  } finally {
    await node.stop();
  }
  return {
    comparisons: [],
    measures: [
      { name: 'fast blocks, announcement to API response, p50', unit: 'ms', samples: samples.middle },
      { name: 'fast blocks, announcement to API response, worst', unit: 'ms', samples: samples.worst },
      {
        name: 'fast blocks, p50 of the last quarter ÷ second quarter',
        ...{ unit: '', samples: samples.growth, target: { atMost: GROWTH_MAX } },
      },
      { name: 'fast blocks, processor time per block', unit: 'ms', samples: cpu },
      {
        name: 'fast blocks, peak memory',
        ...{ unit: 'MB', samples: samples.memory, target: { atMost: MEMORY_MB_MAX } },
      },
    ],
    notes: [
      `${blocks} fast blocks of ${FAST.transactionsPerBlock} transactions and twice as many logs, all datasets.`,
    ],
  };
}

/** @throws BenchmarkError if rows are missing */
async function requireRows(
  { database }: ScratchDatabase,
  first: number,
  blocks: number,
  { transactionsPerBlock, logsPerTransaction, isWhole }: BlockSize & { readonly isWhole: boolean },
): Promise<void> {
  const [found] = await database.query<{ blocks: number; transactions: number; logs: number; failures: number }>(
    sql`SELECT (SELECT count(*) FROM blocks WHERE block_number >= ${first})::int AS blocks,
       (SELECT count(*) FROM transactions WHERE block_number >= ${first} AND sender_recovered)::int AS transactions,
       (SELECT count(*) FROM logs WHERE block_number >= ${first})::int AS logs,
       (SELECT count(*) FROM dataset_failures)::int AS failures`,
  );
  const transactions = isWhole ? blocks * transactionsPerBlock : 0;
  const wanted = { blocks, transactions, logs: transactions * logsPerTransaction, failures: 0 };
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new BenchmarkError(`${JSON.stringify(found)} rows were written instead of ${JSON.stringify(wanted)}`);
}
