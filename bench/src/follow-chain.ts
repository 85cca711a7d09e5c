/** Follows a chain that grows by a block every {@link BLOCK_MS}, and tells how long each takes from the node's announcement to the API's answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchNode, type BenchNodeOptions, type ScratchDatabase, startBenchNode } from '@chainstead/testkit';
import { Pool } from 'undici';
import { API_KEY, addressOf } from './api-servers.ts';
import { CHAIN_ID } from './bench-chain.ts';
import type { BenchmarkContext, BenchmarkReport } from './benchmark.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { startChainstead } from './chainstead-program.ts';
import { leaveReusableLog } from './reusable-log.ts';
import { quantile } from './statistics.ts';

const BLOCK_MS = 50;
/** Blocks that exist when following begins, and that are followed before anything counts. */
const BLOCKS_BEFORE = 200;
const WARM_UP_BLOCKS = 100;
/** In so many at the end nothing need be seen. */
const LAST_BLOCKS = 20;
/** Between two looks: they compete with what they measure for the processor. Nothing is asked while all that was announced is seen. */
const LOOK_PAUSE_MS = 10;
const CAUGHT_UP_PATIENCE_MS = 30_000;

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
  let probe: Probe | undefined;
  try {
    const url = await addressOf(api);
    probe = openProbe(url, `/api/v2.2/${await probeOf(node)}`);
    await waitForBlock(probe, BLOCKS_BEFORE);
    const announced: number[] = [];
    const seen: number[] = [];
    const watching = watch(probe, blocks, announced, seen);
    await release(node, blocks, announced);
    await watching;
    return seen.map((at, index) => at - (announced[index] ?? Number.NaN));
  } finally {
    await probe?.close();
    await Promise.all([api.stop(), ingest.stop()]);
  }
}

/** Lets the chain grow by a block every `BLOCK_MS`. */
async function release(node: BenchNode, blocks: number, announced: number[]): Promise<void> {
  const startedAt = performance.now();
  for (let block = 0; block < blocks; block++) {
    const due = startedAt + block * BLOCK_MS - performance.now();
    if (due > 0) await sleep(due);
    announced.push(performance.now());
    await node.setFaults({ lagBlocks: blocks - block - 1 });
  }
}

/** Looks for a newer indexed block, asks for the wallet's newest row whenever there is one, and notes when each block was in an answer. */
async function watch(probe: Probe, blocks: number, announced: readonly number[], seen: number[]): Promise<void> {
  let deadline = performance.now() + CAUGHT_UP_PATIENCE_MS;
  let indexed = BLOCKS_BEFORE;
  while (seen.length < blocks) {
    const looked = seen.length < announced.length ? await probe.newestIndexed() : indexed;
    if (looked > indexed) {
      indexed = looked;
      const newest = await probe.newestBlock();
      const now = performance.now();
      const count = Math.min(announced.length, (newest ?? 0) - BLOCKS_BEFORE);
      if (count > seen.length) deadline = now + CAUGHT_UP_PATIENCE_MS;
      while (seen.length < count) seen.push(now);
    }
    // The last blocks may hold nothing of this wallet.
    if (performance.now() > deadline) {
      if (seen.length < blocks - LAST_BLOCKS) throw new BenchmarkError(`Following stopped after ${seen.length} blocks`);
      return;
    }
    await sleep(LOOK_PAUSE_MS);
  }
}

async function waitForBlock(probe: Probe, block: number): Promise<void> {
  const deadline = performance.now() + CAUGHT_UP_PATIENCE_MS;
  while ((await probe.newestBlock()) !== block) {
    if (performance.now() > deadline) throw new BenchmarkError(`Block ${block} was not followed`);
    await sleep(20);
  }
}

interface Probe {
  /** Of the wallet's list. */
  newestBlock(): Promise<number | null>;
  /** Of the chain, which takes less to answer than the list. */
  newestIndexed(): Promise<number>;
  close(): Promise<void>;
}

/** One connection: `fetch` takes the processor several times as long. */
function openProbe(url: string, path: string): Probe {
  const pool = new Pool(url, { connections: 1 });
  const get = async (asked: string): Promise<unknown> => {
    const { body } = await pool.request({ method: 'GET', path: asked, headers: { 'x-api-key': API_KEY } });
    return body.json();
  };
  return {
    newestIndexed: async () => Number(await get('/api/v2.2/latestBlockNumber/eth')),
    async newestBlock() {
      const { result } = (await get(path)) as { result?: { block_number: string }[] };
      const [first] = result ?? [];
      return first === undefined ? null : Number(first.block_number);
    },
    close: () => pool.close(),
  };
}
