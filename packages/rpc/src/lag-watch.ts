/** Tells when one upstream falls behind the others: once each time, however long it lasts. */
export interface LagWatch {
  /**
   * To be told of each head that the upstream gives.
   * @param best highest block that others had given before this one was asked; null for none
   * @returns blocks behind when the upstream has just fallen behind, else null
   */
  observe(head: number, best: number | null): number | null;
}

/** Nodes of one chain see a block at different times: what is nearer than this is no lag. */
const TOLERANCE_BLOCKS = 3;
/** Beside two polls, for chains with many blocks a second, milliseconds. */
const PROPAGATION_MS = 2_000;

/** Blocks that an upstream may be behind the others without being called lagging. */
export function lagTolerance(chain: { readonly blockTimeMs: number; readonly pollIntervalMs: number }): number {
  return Math.max(TOLERANCE_BLOCKS, Math.ceil((2 * chain.pollIntervalMs + PROPAGATION_MS) / chain.blockTimeMs));
}

/** It has caught up at half the tolerance, so that one at its edge is not told of again and again. */
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
