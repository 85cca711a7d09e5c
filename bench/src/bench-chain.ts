import { type BenchNode, type BenchNodeOptions, startBenchNode } from '@chainstead/testkit';

/** The benchmark's chain answers as Ethereum, so that blocks are proven under its rules. */
export const CHAIN_ID = 1;

/** Blocks above the indexed ones, so that those are final for every side. */
export const BLOCKS_ABOVE = 100;

/** That of hosted providers. */
export const LOG_LIMIT = { style: 'infura', maxResults: 20_000 } as const;

/**
 * A node in a separate process, with `blocks` blocks to index (1 to `blocks`) and some more above them. getLogs returns at
 * most 20,000 logs, as hosted providers do.
 */
export function startNode(blocks: number, options: Partial<BenchNodeOptions> = {}): Promise<BenchNode> {
  return startBenchNode({
    chainId: CHAIN_ID,
    ...options,
    blocks: blocks + BLOCKS_ABOVE,
    faults: { logLimit: LOG_LIMIT, ...options.faults },
  });
}

/** Several URLs of the same node: for clients that limit themselves by URL, it is as many nodes. */
export function urlsOf(node: Pick<BenchNode, 'url'>, count: number): string[] {
  return count === 1 ? [node.url] : Array.from({ length: count }, (_, index) => `${node.url}/#${index + 1}`);
}
