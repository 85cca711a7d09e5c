import { defineError } from '@chainstead/core';

/**
 * `busy`: come back after a time. `unavailable`: network, status 5xx. `lacking`: fields are missing.
 * `wrong`: a lie or damage. `refused`: configuration.
 */
export type SourceFault = 'busy' | 'unavailable' | 'lacking' | 'wrong' | 'refused';

export interface SourceFacts {
  readonly source: string;
  readonly fault: SourceFault;
  readonly what: string;
  /** Milliseconds; null: not named. */
  readonly retryAfterMs?: number | null;
}

/** A source of history could not be read, or returned what can't be true. Blocks are read from the next source, or from a node. */
export class SourceError extends defineError(
  'SOURCE_FAILED',
  ({ source, fault, what, retryAfterMs = null }: SourceFacts) => ({
    message: `The source of history ${source} failed: ${what}`,
    remedy: 'Its blocks are read from the next source, or from nodes. If this repeats, check HISTORY_<CHAIN>',
    facts: { source, fault, what, retry_after_ms: retryAfterMs },
    retryable: fault !== 'refused',
  }),
) {}
