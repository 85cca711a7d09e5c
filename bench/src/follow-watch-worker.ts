import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import { BenchmarkError } from './benchmark-error.ts';
import type { FollowWatch } from './follow-watch.ts';

/** In so many at the end nothing need be seen. */
const LAST_BLOCKS = 20;
/** Between two looks: they compete with what they measure for the processor. Nothing is asked while all that was announced is seen. */
const LOOK_PAUSE_MS = 10;
const CAUGHT_UP_PATIENCE_MS = 120_000;

/** Runs in a thread: posts what {@link FollowWatch} asks for, once. */
const port = parentPort;
if (port === null) throw new BenchmarkError('follow-watch-worker.ts runs in a thread of follow-watch.ts only');
port.postMessage(await watchFollowing(workerData as FollowWatch));

async function watchFollowing({
  nodeUrl,
  apiUrl,
  apiKey,
  path,
  blocksBefore,
  blocks,
  blockMs,
}: FollowWatch): Promise<number[]> {
  const node = openNode(nodeUrl);
  const probe = openProbe(apiUrl, apiKey, path);
  try {
    await waitForBlock(probe, blocksBefore);
    const announced: number[] = [];
    const seen: number[] = [];
    const watching = watch(probe, { blocksBefore, blocks, announced }, seen);
    await release(node, { blocks, blockMs }, announced);
    await watching;
    return seen.map((at, index) => at - (announced[index] ?? Number.NaN));
  } finally {
    await Promise.all([probe.close(), node.close()]);
  }
}

/** Lets the chain grow by a block every `blockMs`. */
async function release(
  node: Node,
  { blocks, blockMs }: Pick<FollowWatch, 'blocks' | 'blockMs'>,
  announced: number[],
): Promise<void> {
  const startedAt = performance.now();
  for (let block = 0; block < blocks; block++) {
    const due = startedAt + block * blockMs - performance.now();
    if (due > 0) await sleep(due);
    announced.push(performance.now());
    await node.hide(blocks - block - 1);
  }
}

interface Announced extends Pick<FollowWatch, 'blocksBefore' | 'blocks'> {
  /** When each was, in their order. */
  readonly announced: readonly number[];
}

/** Looks for a newer indexed block, asks for the wallet's newest row whenever there is one, and notes when each block was in an answer. */
async function watch(
  probe: Probe,
  { blocksBefore, blocks, announced }: Announced,
  seen: number[],
): Promise<void> {
  let deadline = performance.now() + CAUGHT_UP_PATIENCE_MS;
  let indexed = blocksBefore;
  while (seen.length < blocks) {
    const looked = seen.length < announced.length ? await probe.newestIndexed() : indexed;
    if (looked > indexed) {
      indexed = looked;
      const newest = await probe.newestBlock();
      const now = performance.now();
      const count = Math.min(announced.length, (newest ?? 0) - blocksBefore);
      if (count > seen.length) deadline = now + CAUGHT_UP_PATIENCE_MS;
      while (seen.length < count) seen.push(now);
    }
    // The last blocks may hold nothing of this wallet.
    if (performance.now() > deadline) {
      if (seen.length < blocks - LAST_BLOCKS)
        throw new BenchmarkError(`Following stopped after ${seen.length} blocks`);
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
  /** From the wallet's list. */
  newestBlock(): Promise<number | null>;
  /** From the route of the chain, whose response takes less than the list. */
  newestIndexed(): Promise<number>;
  close(): Promise<void>;
}

/** One connection: `fetch` takes the processor several times as long. */
function openProbe(url: string, apiKey: string, path: string): Probe {
  const pool = new Pool(url, { connections: 1 });
  const get = async (requested: string): Promise<unknown> => {
    const { body } = await pool.request({ method: 'GET', path: requested, headers: { 'x-api-key': apiKey } });
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

interface Node {
  /** Shows all but so many blocks. */
  hide(lagBlocks: number): Promise<void>;
  close(): Promise<void>;
}

function openNode(url: string): Node {
  const pool = new Pool(url, { connections: 1 });
  return {
    async hide(lagBlocks) {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/faults',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ lagBlocks }),
      });
      await body.dump();
      if (statusCode !== 200)
        throw new BenchmarkError(`The node answered ${statusCode} when it was to show a block`);
    },
    close: () => pool.close(),
  };
}
