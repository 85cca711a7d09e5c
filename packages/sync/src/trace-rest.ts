import type { Clock } from '@chainstead/core';
import type { ProvenBlock } from './proven-block.ts';
import type { BlockPart } from './whole-block.ts';

/**
 * Spares the head from traces that nobody gives: each could cost it seconds. After a block without them, datasets do without for a
 * while; blocks that lack them are filled in later.
 */
export interface TraceRest {
  /** What of the wanted parts is worth asking for now. */
  worthwhile(parts: ReadonlySet<BlockPart>): ReadonlySet<BlockPart>;
  seen(block: Pick<ProvenBlock, 'parts'>): void;
}

/** Milliseconds. */
const REST_MS = 60_000;

export function createTraceRest(clock: Pick<Clock, 'now'>): TraceRest {
  let until = Number.NEGATIVE_INFINITY;
  return {
    worthwhile: (parts) =>
      clock.now() < until ? new Set([...parts].filter((part) => part !== 'internalTransactions')) : parts,
    seen: ({ parts: { transactions, internalTransactions } }) => {
      // Where transactions are in doubt, nothing is said of traces.
      if (internalTransactions?.level === 'unavailable' && transactions?.level !== 'unavailable')
        until = clock.now() + REST_MS;
    },
  };
}
