/** Follows a chain that grows by a block every {@link BLOCK_MS}, and tells how long each takes from the node's announcement to the API's answer. */
import { type BenchNode, type BenchNodeOptions, type ScratchDatabase, startBenchNode } from '@chainstead/testkit';
import { API_KEY, addressOf } from './api-servers.ts';
import { CHAIN_ID } from './bench-chain.ts';
import type { BenchmarkContext, BenchmarkReport } from './benchmark.ts';
import { startChainstead } from './chainstead-program.ts';
import { watchFollowing } from './follow-watch.ts';
import { leaveReusableLog } from './reusable-log.ts';
import { quantile } from './statistics.ts';

const BLOCK_MS = 50;
/** Blocks that exist when following begins, and that are followed before anything counts. */
const BLOCKS_BEFORE = 200;
const WARM_UP_BLOCKS = 100;

/** What is followed, and what is kept of it. */
export interface FollowPlan {
  readonly chain: Pick<BenchNodeOptions, 'transactionsPerBlock' | 'logsPerTransaction' | 'nftShare' | 'signers'>;
  /** Configuration of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** The path and query of a list of which the newest row is asked for, and which gets one with nearly every block. */
  probe(node: BenchNode): Promise<string>;
  /** Looks at the database when all blocks were followed, so many from the first one on that was released. */
  inspect?(scratch: ScratchDatabase, first: number, blocks: number): Promise<void>;
}

export async function measureFollowing(
  { server, sizes, runs, say }: BenchmarkContext,
  plan: FollowPlan,
): Promise<BenchmarkReport> {
  const blocks = (sizes.followSeconds * 1_000) / BLOCK_MS + WARM_UP_BLOCKS;
  const p50: number[] = [];
  const p99: number[] = [];
  const late: number[] = [];
  for (let run = 0; run < runs; run++) {
    say(`  run ${run + 1} of ${runs}`);
    const node = await startBenchNode({
      ...plan.chain,
      chainId: CHAIN_ID,
      blocks: BLOCKS_BEFORE + blocks,
      faults: { lagBlocks: blocks },
    });
    const scratch = await server.createDatabase();
    try {
      await leaveReusableLog(scratch);
      const latencies = (await followChain(node, scratch.url, blocks, plan)).slice(WARM_UP_BLOCKS);
      await plan.inspect?.(scratch, BLOCKS_BEFORE + 1, blocks);
      p50.push(quantile(latencies, 0.5));
      p99.push(quantile(latencies, 0.99));
      late.push(Math.max(...latencies));
    } finally {
      await scratch.drop();
      await node.stop();
    }
  }
  return {
    comparisons: [],
    measures: [
      { name: 'announcement to API answer, p50', unit: 'ms', samples: p50 },
      { name: 'announcement to API answer, p99', unit: 'ms', samples: p99, target: { atMost: 2 * BLOCK_MS } },
      { name: 'announcement to API answer, worst', unit: 'ms', samples: late },
    ],
    notes: [
      `${blocks - WARM_UP_BLOCKS} blocks a run, every one proven; the head is polled every 10 ms; segments of the log are used again.`,
    ],
  };
}

/** @returns for each released block the milliseconds from its announcement to the answer that shows it */
async function followChain(
  node: BenchNode,
  databaseUrl: string,
  blocks: number,
  { env, probe: probeOf }: FollowPlan,
): Promise<number[]> {
  const place = {
    databaseUrl,
    rpcUrls: [node.url],
    env: { ...env, PORT: '0', API_KEYS: API_KEY, POLL_INTERVAL_MS: '10', BLOCK_TIME_MS_ETH: String(BLOCK_MS) },
  };
  const api = startChainstead(['start', '--roles', 'api'], place);
  const ingest = startChainstead(['start', '--roles', 'ingest'], place);
  try {
    return await watchFollowing({
      nodeUrl: node.url,
      apiUrl: await addressOf(api),
      apiKey: API_KEY,
      path: `/api/v2.2/${await probeOf(node)}`,
      blocksBefore: BLOCKS_BEFORE,
      blocks,
      blockMs: BLOCK_MS,
    });
  } finally {
    await Promise.all([api.stop(), ingest.stop()]);
  }
}
