/** Detects when one upstream falls behind the others: once per incident, however long it lasts. */
export interface LagWatch {
  /**
   * Records a head of the upstream.
   * @param best highest block that others had returned before this request; null for none
   * @returns blocks behind if the upstream has just fallen behind, else null
   */
  observe(head: number, best: number | null): number | null;
}

/** Nodes of one chain receive a block at different times; a smaller distance is no lag. */
const TOLERANCE_BLOCKS = 3;
/** Added to two poll intervals for chains with many blocks per second, milliseconds. */
const PROPAGATION_MS = 2_000;

/** Returns how many blocks an upstream may be behind the others before it counts as lagging. */
export function lagTolerance(chain: { readonly blockTimeMs: number; readonly pollIntervalMs: number }): number {
  return Math.max(TOLERANCE_BLOCKS, Math.ceil((2 * chain.pollIntervalMs + PROPAGATION_MS) / chain.blockTimeMs));
}

/** It has caught up at half the tolerance, so that an upstream at the edge is not reported repeatedly. */
export function createLagWatch(toleranceBlocks: number): LagWatch {
  let isBehind = false;
  return {
    observe(head, best) {
      const blocks = best === null ? 0 : best - head;
      if (blocks <= toleranceBlocks / 2) isBehind = false;
      if (isBehind || blocks <= toleranceBlocks) return null;
      isBehind = true;
      return blocks;
    },
  };
}
