import { askNode, type BenchNode } from '@chainstead/testkit';

/** Blocks of a sample. */
export const SAMPLE_BLOCKS = 250;

export interface SampledReceipt {
  readonly from: string;
  readonly logs: readonly { readonly topics: readonly string[] }[];
}

/** Receipts of {@link SAMPLE_BLOCKS} blocks. */
export async function readSample(node: BenchNode, from: number): Promise<SampledReceipt[]> {
  const receipts: SampledReceipt[] = [];
  for (let block = from; block < from + SAMPLE_BLOCKS; block++)
    receipts.push(
      ...((await askNode(node.url, 'eth_getBlockReceipts', [`0x${block.toString(16)}`])) as SampledReceipt[]),
    );
  return receipts;
}

/** By wallet, the transactions in which it occurs. */
export function countWallets(receipts: readonly SampledReceipt[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { from, logs } of receipts) {
    const parties = logs.flatMap(({ topics }) => topics.slice(1, 3).map((topic) => `0x${topic.slice(26)}`));
    for (const wallet of new Set([from, ...parties])) counts.set(wallet, (counts.get(wallet) ?? 0) + 1);
  }
  return counts;
}
