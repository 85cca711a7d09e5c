import { isQuantity, parseQuantity } from '@chainstead/core';
import type { FaultKind } from '../upstream-pool.ts';
import type { UpstreamState } from '../upstream-state.ts';

export function createHeadReader(options: {
  readonly name: string;
  readonly state: Pick<UpstreamState, 'setHead'>;
  readonly callSized: (
    method: string,
    params: readonly unknown[],
    options: { readonly rank: 'head' },
  ) => Promise<{ readonly result: unknown }>;
  readonly fault: (kind: FaultKind, method: string, text: string) => Error;
  readonly lagToleranceBlocks: number;
  /** Highest block that others returned; null: none yet. */
  readonly bestOfOthers: (name: string) => number | null;
}): () => Promise<number> {
  const { name, state, callSized, fault, bestOfOthers } = options;
  const lag = createLagWatch(options.lagToleranceBlocks);
  let request: Promise<number> | null = null;

  async function ask(): Promise<number> {
    // Before the request: blocks returned meanwhile don't count.
    const best = bestOfOthers(name);
    const { result } = await callSized('eth_blockNumber', [], { rank: 'head' });
    if (!isQuantity(result) || Number(result) > Number.MAX_SAFE_INTEGER)
      throw fault('malformed', 'eth_blockNumber', `answered ${JSON.stringify(result)?.slice(0, 80)}`);
    const number = parseQuantity(result);
    state.setHead(number);
    const behind = lag(number, best);
    if (behind !== null)
      fault('lagging', 'eth_blockNumber', `has only reached block ${number}, others ${behind} blocks more`);
    return number;
  }

  return () => {
    // Shared: no caller's signal or timeout may end it.
    request ??= ask().finally(() => {
      request = null;
    });
    return request;
  };
}

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
