import type { Clock } from '@chainstead/core';
import type { BlockPart } from '../dataset/whole-block.ts';
import type { ProvenBlock } from '../read/proven-block.ts';

/**
 * Stops requests for unavailable traces at the head, because each could delay it by seconds. After a block without
 * traces, datasets skip them for a while; such blocks are backfilled later.
 */
export interface TraceBackoff {
  /** Returns the parts that are worth a request now. */
  worthwhile(parts: ReadonlySet<BlockPart>): ReadonlySet<BlockPart>;
  seen(block: Pick<ProvenBlock, 'parts'>): void;
}

/** Milliseconds. */
const REST_MS = 60_000;

export function createTraceBackoff(clock: Pick<Clock, 'now'>): TraceBackoff {
  let until = Number.NEGATIVE_INFINITY;
  return {
    worthwhile: (parts) =>
      clock.now() < until ? new Set([...parts].filter((part) => part !== 'internalTransactions')) : parts,
    seen: ({ parts: { transactions, internalTransactions } }) => {
      // If transactions are unavailable too, the result is inconclusive for traces.
      if (internalTransactions?.level === 'unavailable' && transactions?.level !== 'unavailable')
        until = clock.now() + REST_MS;
    },
  };
}
