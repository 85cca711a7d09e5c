import type { BenchNode } from '@chainstead/testkit';
import { countWallets, readSample } from './sampled-receipts.ts';

/** The wallets that occur in most transactions of the chain's first blocks, busiest first. */
export async function busiestWallets(node: BenchNode, count: number): Promise<string[]> {
  const counts = countWallets(await readSample(node, 1));
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([wallet]) => wallet);
}
