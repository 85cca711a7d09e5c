const TOLERANCE_BLOCKS = 3;
const PROPAGATION_MS = 2_000;

export function lagTolerance(chain: { readonly blockTimeMs: number; readonly pollIntervalMs: number }): number {
  return Math.max(TOLERANCE_BLOCKS, Math.ceil((2 * chain.pollIntervalMs + PROPAGATION_MS) / chain.blockTimeMs));
}

/** Blocks behind, once per lag; else null. It ends at half the tolerance. `best`: of others. */
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
