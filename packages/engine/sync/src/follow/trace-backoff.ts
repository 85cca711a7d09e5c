import type { Clock } from '@chainstead/core';
import type { BlockPart } from '../dataset/whole-block.ts';
import type { ProvenBlock } from '../read/proven-block.ts';

/**
 * Requests for unavailable traces could each delay the head by seconds. After a block without traces, datasets skip them
 * for a while; such blocks are backfilled later.
 */
export type TraceBackoff = ReturnType<typeof createTraceBackoff>;

const REST_MS = 60_000;

export function createTraceBackoff(clock: Pick<Clock, 'now'>) {
  let until = Number.NEGATIVE_INFINITY;
  return {
    worthwhile: (parts: ReadonlySet<BlockPart>): ReadonlySet<BlockPart> =>
      clock.now() < until ? parts.difference(new Set(['internalTransactions'])) : parts,
    seen: ({ parts: { transactions, internalTransactions } }: Pick<ProvenBlock, 'parts'>) => {
      // If transactions are unavailable too, the result is inconclusive for traces.
      if (internalTransactions?.level === 'unavailable' && transactions?.level !== 'unavailable')
        until = clock.now() + REST_MS;
    },
  };
}
