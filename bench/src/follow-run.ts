import { type BenchNode, requestNode } from '@chainstead/testkit';
import { API_KEY, addressOf } from './api-servers.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { startChainstead } from './chainstead-program.ts';
import { type FollowWatch, watchFollowing } from './follow-watch.ts';

/** A chain that grows by `blocks` blocks, one each `blockMs`, and is followed with all of its data. */
export interface FollowPlan extends Pick<FollowWatch, 'blocksBefore' | 'blocks' | 'blockMs'> {
  /** Shows all but `blocks` blocks. */
  readonly node: BenchNode;
  readonly databaseUrl: string;
  /** More configuration keys. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface FollowRun {
  /** Milliseconds from the announcement of each block to the response that shows it; the last few may be missing. */
  readonly latencies: readonly number[];
  /** Bytes, of the larger of two processes. */
  readonly peakMemory: number;
  /** Processor time of the ingest process. */
  readonly cpuSeconds: number;
}

/** Follows the chain in one process, and serves it from another. */
export async function runFollowing(plan: FollowPlan): Promise<FollowRun> {
  const { node, databaseUrl, blockMs, env } = plan;
  const place = {
    databaseUrl,
    rpcUrls: [node.url],
    env: {
      TRANSACTIONS_ETH: 'all',
      LOGS_ETH: 'all',
      PORT: '0',
      API_KEYS: API_KEY,
      POLL_INTERVAL_MS: '10',
      BLOCK_TIME_MS_ETH: String(blockMs),
      ...env,
    },
  };
  const api = startChainstead(['start', '--roles', 'api'], place);
  const ingest = startChainstead(['start', '--roles', 'ingest'], place);
  try {
    const latencies = await watchFollowing({
      nodeUrl: node.url,
      apiUrl: await addressOf(api),
      apiKey: API_KEY,
      path: `/api/v2.2/${await anySender(node)}?chain=eth&limit=1`,
      blocksBefore: plan.blocksBefore,
      blocks: plan.blocks,
      blockMs,
    });
    const peakMemory = Math.max(0, ...[api, ingest].flatMap(({ memory }) => memory.map(({ bytes }) => bytes)));
    return { latencies, peakMemory, cpuSeconds: ingest.cpuSeconds() };
  } finally {
    await Promise.all([api.stop(), ingest.stop()]);
  }
}

async function anySender(node: BenchNode): Promise<string> {
  const { transactions } = (await requestNode(node.url, 'eth_getBlockByNumber', ['0x1', true])) as {
    transactions: { from: string }[];
  };
  const [first] = transactions;
  if (first === undefined) throw new BenchmarkError("The node's first block holds no transaction");
  return first.from;
}
