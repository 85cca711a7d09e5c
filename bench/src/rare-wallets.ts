import type { BenchNode } from '@chainstead/testkit';
import { BenchmarkError } from './benchmark-error.ts';
import { countWallets, readSample, SAMPLE_BLOCKS } from './sampled-receipts.ts';

/** No wallet makes up more of the share than one in so many. */
const LEAST_WALLETS = 10;

/**
 * Wallets that together occur in about this share of the chain's transactions. Found in some blocks and counted in others:
 * counted where they were found, they would seem more frequent than they are.
 */
export async function walletsInShare(node: BenchNode, share: number): Promise<string[]> {
  // In an order that has nothing to do with how often they occur.
  const found = [...countWallets(await readSample(node, 1)).keys()].toSorted();
  const counted = await readSample(node, 1 + SAMPLE_BLOCKS);
  const counts = countWallets(counted);
  const budget = share * counted.length;
  const chosen: string[] = [];
  let transactions = 0;
  for (const wallet of found) {
    const count = counts.get(wallet) ?? 0;
    if (count > budget / LEAST_WALLETS) continue;
    if (transactions + count > budget) return chosen;
    chosen.push(wallet);
    transactions += count;
  }
  throw new BenchmarkError(`The chain's wallets do not make up ${share} of it`);
}
