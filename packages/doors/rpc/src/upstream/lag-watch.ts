/** Nodes of one chain receive a block at different times; a smaller distance is no lag. */
const TOLERANCE_BLOCKS = 3;
/** Added to two poll intervals for chains with many blocks per second, milliseconds. */
const PROPAGATION_MS = 2_000;

export function lagTolerance(chain: { readonly blockTimeMs: number; readonly pollIntervalMs: number }): number {
  return Math.max(TOLERANCE_BLOCKS, Math.ceil((2 * chain.pollIntervalMs + PROPAGATION_MS) / chain.blockTimeMs));
}

/**
 * Returns the blocks behind when an upstream falls behind, else null. It has caught up at half the tolerance, so that one at
 * the edge is reported once. `best`: the highest block that others had returned before.
 */
export function createLagWatch(toleranceBlocks: number): (head: number, best: number | null) => number | null {
  let isBehind = false;
  return (head, best) => {
    const blocks = best === null ? 0 : best - head;
    if (blocks <= toleranceBlocks / 2) isBehind = false;
    if (isBehind || blocks <= toleranceBlocks) return null;
    isBehind = true;
    return blocks;
  };
}
