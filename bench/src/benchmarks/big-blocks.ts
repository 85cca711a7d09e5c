import { sql } from '@chainstead/db';
import { type BenchNode, type BenchNodeOptions, type ScratchDatabase, startBenchNode } from '@chainstead/testkit';
import { rangeArguments } from '../backfill-run.ts';
import { CHAIN_ID, LOG_LIMIT } from '../bench-chain.ts';
import type { Benchmark, BenchmarkContext, BenchmarkReport } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { type FollowRun, runFollowing } from '../follow-run.ts';
import { leaveReusableLog } from '../reusable-log.ts';
import { median } from '../statistics.ts';
import { seedTradedPools, tradedPools } from '../traded-pools.ts';

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
const FILTERED = { BACKFILL_PROOF_ETH: 'none', TRANSACTIONS_ETH: 'off', LOGS_ETH: 'off' } as const;
const PROVEN = { BACKFILL_PROOF_ETH: 'receipts', TRANSACTIONS_ETH: 'all', LOGS_ETH: 'all' } as const;
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

interface Peak {
  readonly seconds: number;
  readonly bytes: number;
}

async function measureBig(context: BenchmarkContext): Promise<BenchmarkReport> {
  const blocks = context.sizes.bigBlocks;
  const node = await startBenchNode({
    ...{ ...CONTENTS, ...BIG, blocks: BLOCKS_BEFORE + blocks, finalityDepth: 0 },
    faults: { logLimit: LOG_LIMIT },
  });
  const kinds: readonly [name: string, run: (scratch: ScratchDatabase) => Promise<Peak>][] = [
    ['filtered logs', (scratch) => fillBig(scratch, node, blocks, FILTERED)],
    ['proven, all datasets', (scratch) => fillBig(scratch, node, blocks, PROVEN)],
    ['followed, all datasets', (scratch) => followBig(scratch, node, blocks)],
  ];
  const measures: BenchmarkReport['measures'][number][] = [];
  try {
    for (const [name, run] of kinds) {
      const peaks = await repeat(context, name, run);
      measures.push(
        { name: `${name}, per block`, unit: 's', samples: peaks.map(({ seconds }) => seconds / blocks) },
        {
          ...{ name: `${name}, peak memory`, unit: 'MB', target: { atMost: MEMORY_MB_MAX } },
          samples: peaks.map(({ bytes }) => bytes / 1e6),
        },
      );
    }
  } finally {
    await node.stop();
  }
  const notes = [
    `${blocks} blocks of ${BIG.transactionsPerBlock} signed transactions with ${BIG.logsPerTransaction} logs each. getLogs returns ${LOG_LIMIT.maxResults} logs at most.`,
    `Followed: one block each ${BIG_BLOCK_MS} ms. The time is that from the last one to the response that shows it.`,
  ];
  return { comparisons: [], measures, notes };
}

/** Runs on fresh databases. */
async function repeat<T>(
  { server, runs, say }: BenchmarkContext,
  name: string,
  run: (scratch: ScratchDatabase) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (let number = 0; number < runs; number++) {
    say(`  run ${number + 1} of ${runs}: ${name}`);
    const scratch = await server.createDatabase();
    try {
      await seedTradedPools(scratch.database, MARKET);
      await leaveReusableLog(scratch);
      results.push(await run(scratch));
    } finally {
      await scratch.drop();
    }
  }
  return results;
}

async function fillBig(
  scratch: ScratchDatabase,
  node: BenchNode,
  blocks: number,
  env: typeof FILTERED | typeof PROVEN,
): Promise<Peak> {
  const place = { databaseUrl: scratch.url, rpcUrls: [node.url], env };
  const program = startChainstead(['backfill', ...rangeArguments(blocks)], place);
  await program.finished();
  await requireRows(scratch, 1, blocks, { ...BIG, isWhole: env === PROVEN });
  return { seconds: program.elapsedMs() / 1_000, bytes: Math.max(...program.memory.map(({ bytes }) => bytes)) };
}

async function followBig(scratch: ScratchDatabase, node: BenchNode, blocks: number): Promise<Peak> {
  await node.setFaults({ lagBlocks: blocks });
  const growth = { blocksBefore: BLOCKS_BEFORE, blocks, blockMs: BIG_BLOCK_MS };
  const { latencies, peakMemory } = await runFollowing({ node, databaseUrl: scratch.url, ...growth });
  await requireRows(scratch, BLOCKS_BEFORE + 1, blocks, { ...BIG, isWhole: true });
  return { seconds: (latencies.at(-1) ?? 0) / 1_000, bytes: peakMemory };
}

async function measureFast(context: BenchmarkContext): Promise<BenchmarkReport> {
  const blocks = (context.sizes.fastBlocksSeconds * 1_000) / FAST_BLOCK_MS;
  context.say('  making the blocks');
  const node = await startBenchNode({ ...CONTENTS, ...FAST, blocks: BLOCKS_BEFORE + blocks });
  const follow = async (scratch: ScratchDatabase): Promise<FollowRun> => {
    await node.setFaults({ lagBlocks: blocks });
    const growth = { blocksBefore: BLOCKS_BEFORE, blocks, blockMs: FAST_BLOCK_MS };
    const run = await runFollowing({ node, databaseUrl: scratch.url, ...growth });
    await requireRows(scratch, BLOCKS_BEFORE + 1, blocks, { ...FAST, isWhole: true });
    return run;
  };
  const runs = await repeat(context, `${blocks} blocks, one each ${FAST_BLOCK_MS} ms`, follow).finally(() =>
    node.stop(),
  );
  const measure = (
    [name, unit, atMost]: readonly [name: string, unit: string, atMost?: number],
    figure: (run: FollowRun) => number,
  ): BenchmarkReport['measures'][number] => ({
    ...{ name: `fast blocks, ${name}`, unit, samples: runs.map(figure) },
    ...(atMost !== undefined && { target: { atMost } }),
  });
  const growth = ({ latencies }: FollowRun): number => {
    const quarter = Math.floor(latencies.length / 4);
    return median(latencies.slice(-quarter)) / median(latencies.slice(quarter, 2 * quarter));
  };
  return {
    comparisons: [],
    measures: [
      measure(['announcement to API response, p50', 'ms'], ({ latencies }) => median(latencies)),
      measure(['announcement to API response, worst', 'ms'], ({ latencies }) => Math.max(...latencies)),
      measure(['p50 of the last quarter ÷ second quarter', '', GROWTH_MAX], growth),
      measure(['processor time per block', 'ms'], ({ cpuSeconds }) => (1_000 * cpuSeconds) / blocks),
      measure(['peak memory', 'MB', MEMORY_MB_MAX], ({ peakMemory }) => peakMemory / 1e6),
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
