import type { BenchNode, BenchNodeOptions } from '@chainstead/testkit';
import { startNode } from './bench-chain.ts';

/** Starts the benchmark's node, does the work, and ends the node. */
export async function withNode<T>(
  blocks: number,
  options: Partial<BenchNodeOptions>,
  work: (node: BenchNode) => Promise<T>,
): Promise<T> {
  const node = await startNode(blocks, options);
  try {
    return await work(node);
  } finally {
    await node.stop();
  }
}
