import type { BenchNode } from '@chainstead/testkit';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { ERC20_ONLY } from '../chainstead-program.ts';
import { measureFollowing } from '../follow-chain.ts';

/** Blocks that are looked through for a wallet that is in nearly every block. */
const SAMPLE_BLOCKS = 20;

/** A chain of 20 blocks a second with 500 logs each: from the node's announcement to the row in an API answer. */
export const follow: Benchmark = {
  name: 'follow',
  title: 'Following 20 blocks a second of 500 logs, announcement to API answer',
  run: (context) =>
    measureFollowing(context, {
      chain: { transactionsPerBlock: 250, logsPerTransaction: 2 },
      env: ERC20_ONLY,
      probe: async (node) => `${await busiestWallet(node)}/erc20/transfers?chain=eth&limit=1`,
    }),
};

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
