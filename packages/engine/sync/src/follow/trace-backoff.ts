import type { Clock } from '@chainstead/core';
import type { BlockPart } from '../dataset/whole-block.ts';
import type { ProvenBlock } from '../read/proven-block.ts';

/** Unavailable traces may delay the head by seconds: datasets skip them for a while. */
export type TraceBackoff = ReturnType<typeof createTraceBackoff>;

const REST_MS = 60_000;

export function createTraceBackoff(clock: Pick<Clock, 'now'>) {
  let until = Number.NEGATIVE_INFINITY;
  return {
    worthwhile: (parts: ReadonlySet<BlockPart>): ReadonlySet<BlockPart> =>
      clock.now() < until ? parts.difference(new Set(['internalTransactions'])) : parts,
    seen: ({ parts: { transactions, internalTransactions } }: Pick<ProvenBlock, 'parts'>) => {
      // Without transactions, the result shows nothing about traces.
      if (internalTransactions?.level === 'unavailable' && transactions?.level !== 'unavailable')
        until = clock.now() + REST_MS;
    },
  };
}
