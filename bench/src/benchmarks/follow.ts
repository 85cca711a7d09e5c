import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchNode, startBenchNode } from '@chainstead/testkit';
import { API_KEY, addressOf } from '../api-servers.ts';
import { CHAIN_ID } from '../bench-chain.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { ERC20_ONLY, startChainstead } from '../chainstead-program.ts';
import { quantile } from '../statistics.ts';

const BLOCK_MS = 50;
const TRANSACTIONS_PER_BLOCK = 250;
const LOGS_PER_TRANSACTION = 2;
/** Blocks that exist when following begins, and that are followed before anything counts. */
const BLOCKS_BEFORE = 200;
const WARM_UP_BLOCKS = 100;
/** Blocks that are looked through for a wallet that is in nearly every block. */
const SAMPLE_BLOCKS = 20;
/** Between two probes: they compete with what they measure for the processor. */
const PROBE_PAUSE_MS = 4;
const CAUGHT_UP_PATIENCE_MS = 30_000;

/** A chain of 20 blocks a second with 500 logs each: from the node's announcement to the row in an API answer. */
export const follow: Benchmark = {
  name: 'follow',
  title: 'Following 20 blocks a second of 500 logs, announcement to API answer',
  async run({ server, sizes, runs, say }) {
    const blocks = (sizes.followSeconds * 1_000) / BLOCK_MS + WARM_UP_BLOCKS;
    const p50: number[] = [];
    const p99: number[] = [];
    const late: number[] = [];
    for (let run = 0; run < runs; run++) {
      say(`  run ${run + 1} of ${runs}`);
      const node = await startBenchNode({
        chainId: CHAIN_ID,
        blocks: BLOCKS_BEFORE + blocks,
        transactionsPerBlock: TRANSACTIONS_PER_BLOCK,
        logsPerTransaction: LOGS_PER_TRANSACTION,
        faults: { lagBlocks: blocks },
      });
      const scratch = await server.createDatabase();
      try {
        const latencies = (await followChain(node, scratch.url, blocks)).slice(WARM_UP_BLOCKS);
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
      notes: [`${blocks - WARM_UP_BLOCKS} blocks a run, every one proven; the head is polled every 10 ms.`],
    };
  },
};

/** @returns for each released block the milliseconds from its announcement to the answer that shows it */
async function followChain(node: BenchNode, databaseUrl: string, blocks: number): Promise<number[]> {
  const place = {
    databaseUrl,
    rpcUrls: [node.url],
    env: { ...ERC20_ONLY, PORT: '0', API_KEYS: API_KEY, POLL_INTERVAL_MS: '10', BLOCK_TIME_MS_ETH: String(BLOCK_MS) },
  };
  const api = startChainstead(['start', '--roles', 'api'], place);
  const ingest = startChainstead(['start', '--roles', 'ingest'], place);
  try {
    const url = await addressOf(api);
    const probe = `${url}/api/v2.2/${await busiestWallet(node)}/erc20/transfers?chain=eth&limit=1`;
    await waitForBlock(probe, BLOCKS_BEFORE);
    const announced: number[] = [];
    const seen: number[] = [];
    const watching = watch(probe, BLOCKS_BEFORE, blocks, seen);
    await release(node, blocks, announced);
    await watching;
    return seen.map((at, index) => at - (announced[index] ?? Number.NaN));
  } finally {
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

/** Asks for the wallet's newest row until all blocks were seen, and notes when each was. */
async function watch(probe: string, before: number, blocks: number, seen: number[]): Promise<void> {
  let deadline = performance.now() + CAUGHT_UP_PATIENCE_MS;
  while (seen.length < blocks) {
    const newest = await newestBlock(probe);
    const now = performance.now();
    const count = Math.min(blocks, (newest ?? 0) - before);
    if (count > seen.length) deadline = now + CAUGHT_UP_PATIENCE_MS;
    while (seen.length < count) seen.push(now);
    // The last blocks may hold nothing of this wallet.
    if (now > deadline) {
      if (seen.length < blocks - SAMPLE_BLOCKS)
        throw new BenchmarkError(`Following stopped after ${seen.length} blocks`);
      return;
    }
    await sleep(PROBE_PAUSE_MS);
  }
}

async function waitForBlock(probe: string, block: number): Promise<void> {
  const deadline = performance.now() + CAUGHT_UP_PATIENCE_MS;
  while ((await newestBlock(probe)) !== block) {
    if (performance.now() > deadline) throw new BenchmarkError(`Block ${block} was not followed`);
    await sleep(20);
  }
}

async function newestBlock(probe: string): Promise<number | null> {
  const response = await fetch(probe, { headers: { 'x-api-key': API_KEY } });
  const { result } = (await response.json()) as { result?: { block_number: string }[] };
  const [first] = result ?? [];
  return first === undefined ? null : Number(first.block_number);
}

async function busiestWallet(node: BenchNode): Promise<string> {
  const filter = { fromBlock: '0x1', toBlock: `0x${SAMPLE_BLOCKS.toString(16)}` };
  const response = await fetch(node.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] }),
  });
  const { result } = (await response.json()) as { result: { topics: string[]; data: string }[] };
  const counts = new Map<string, number>();
  for (const { topics, data } of result)
    if (topics.length === 3 && data.length === 66)
      for (const topic of topics.slice(1)) counts.set(topic, (counts.get(topic) ?? 0) + 1);
  const [busiest] = [...counts].toSorted((a, b) => b[1] - a[1]);
  if (busiest === undefined) throw new BenchmarkError("The node's first blocks hold no transfer");
  return `0x${busiest[0].slice(26)}`;
}
