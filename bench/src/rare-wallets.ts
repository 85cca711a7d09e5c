import { type BenchNode, requestNode } from '@chainstead/testkit';
import { BenchmarkError } from './benchmark-error.ts';

/** Blocks of a sample. */
const SAMPLE_BLOCKS = 250;

interface SampledReceipt {
  readonly from: string;
  readonly logs: readonly { readonly topics: readonly string[] }[];
}

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

/** Receipts of {@link SAMPLE_BLOCKS} blocks. */
async function readSample(node: BenchNode, from: number): Promise<SampledReceipt[]> {
  const receipts: SampledReceipt[] = [];
  for (let block = from; block < from + SAMPLE_BLOCKS; block++)
    receipts.push(
      ...((await requestNode(node.url, 'eth_getBlockReceipts', [`0x${block.toString(16)}`])) as SampledReceipt[]),
    );
  return receipts;
}

/** By wallet, the transactions in which it occurs. */
function countWallets(receipts: readonly SampledReceipt[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { from, logs } of receipts) {
    const parties = logs.flatMap(({ topics }) => topics.slice(1, 3).map((topic) => `0x${topic.slice(26)}`));
    for (const wallet of new Set([from, ...parties])) counts.set(wallet, (counts.get(wallet) ?? 0) + 1);
  }
  return counts;
}
