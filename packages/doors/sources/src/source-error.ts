import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { defineError } from '@chainstead/core';

/**
 * `busy`: come back after a time. `unavailable`: network, status 5xx. `lacking`: fields are missing.
 * `wrong`: a lie or damage. `refused`: configuration. `slow`: nodes are much faster. `too-large`: fewer blocks may fit.
 */
export type SourceFault = 'busy' | 'unavailable' | 'lacking' | 'wrong' | 'refused' | 'slow' | 'too-large';

export interface SourceFacts {
  readonly source: string;
  readonly fault: SourceFault;
  readonly what: string;
  /** Milliseconds; null: not named. */
  readonly retryAfterMs?: number | null;
  /** Only this file is left out: another one of the source has the block. @default null */
  readonly file?: string | null;
}

/** On a chain without nodes, no block can be served. */
export class NoProvenBlockError extends defineError(
  'NO_PROVEN_BLOCK',
  ({ chain, reason }: { readonly chain: string; readonly reason: string }) => ({
    message: `No block of ${chain} in its era files is proven: ${reason}`,
    remedy: `Put era files with proofs into the folder of HISTORY_${environmentSuffix({ key: chain })}. Blocks from Capella on also need the list historical-summaries.ssz there`,
    facts: { chain, reason },
    retryable: true,
  }),
) {}

/** Without nodes, a hole or a damaged block ends what can be read. */
export class FilesLackBlocksError extends defineError(
  'FILES_LACK_BLOCKS',
  ({ chain, what }: { readonly chain: string; readonly what: string }) => ({
    message: `The era files of ${chain} lack a block: ${what}`,
    remedy: `Add the file to the folder of HISTORY_${environmentSuffix({ key: chain })}, or set RPC_URLS_${environmentSuffix({ key: chain })}`,
    facts: { chain, what },
    retryable: true,
  }),
) {}

/** A source of history could not be read, or returned what can't be true. Blocks are read from the next source, or from a node. */
export class SourceError extends defineError(
  'SOURCE_FAILED',
  ({ source, fault, what, retryAfterMs = null, file = null }: SourceFacts) => ({
    message: `The source of history ${source} failed: ${what}`,
    remedy: 'Its blocks are read from the next source, or from nodes. If this repeats, check HISTORY_<CHAIN>',
    facts: { source, fault, what, retry_after_ms: retryAfterMs, file },
    retryable: fault !== 'refused',
  }),
) {}

/** The source has this block, but not so that it can be proven: reading it again does not help. */
export function isGap(error: unknown): error is SourceError | FilesLackBlocksError {
  if (error instanceof FilesLackBlocksError) return true;
  return error instanceof SourceError && (error.facts.fault === 'lacking' || error.facts.fault === 'wrong');
}
