/** Old blocks from another place than nodes. Nothing of a source is trusted: readers recompute roots and check an anchor. */
import type { Block, BlockRange, Log, Receipt } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';

/** Each may return fewer blocks than requested: readers continue after the last one. */
export interface BlockSource {
  /** For logs, status and coverage, such as `portal portal.sqd.dev`. Has no credentials. */
  readonly name: string;
  /** Blocks that it has now, ascending; there may be holes. @throws SourceError */
  available(signal: AbortSignal): Promise<readonly BlockRange[]>;
  /**
   * Whole blocks, ascending and without holes from `range.from`; may end early.
   * @throws SourceError
   */
  readBlocks(range: BlockRange, options: BlocksOptions, signal: AbortSignal): AsyncIterable<SourceBlock>;
  /**
   * Pages that lie end to end from `range.from`, each with all its matching logs; may end early.
   * @throws SourceError
   */
  readLogs(query: LogsQuery, signal: AbortSignal): AsyncIterable<LogsPage>;
  /**
   * Leaves a file out for these blocks, which don't hold, if another file has the first of them.
   * @returns false if none has: the source failed as a whole
   */
  refuse?(file: string, blocks: BlockRange, reason: string): boolean;
  /** Files that are damaged, can't be read, or don't hold. */
  refusals?(): readonly RefusedFile[];
  /** Another number since `available` saw other files than before: a failure may be over. */
  revision?(): number;
  close(): Promise<void>;
}

export interface RefusedFile {
  readonly file: string;
  /** Begins with the file. */
  readonly reason: string;
}

export interface BlocksOptions {
  /** False: `block.transactions` may be null if the reader has checked their root. Saves the senders. */
  readonly transactions: boolean;
}

/** In the forms of JSON-RPC, as `parseBlock` and `parseReceipt` return them. */
export interface SourceBlock {
  readonly block: Block;
  readonly receipts: readonly Receipt[];
  /** Parts that can't be recomputed from what the source has; they are read from a node. */
  readonly lacks: readonly BlockLack[];
  /** A public list that ships with the program contains this header. */
  readonly isCanonical: boolean;
  /** The reader recovered all senders itself, from the signatures. @default false */
  readonly hasRecoveredSenders?: boolean;
  /** Where it is from, if another file of the source has it too: a unit that is proven ends with the file. */
  readonly file?: string;
  /** As received, about. Readers hold blocks until they are proven, and only so many bytes. */
  readonly bytes: number;
}

export interface BlockLack {
  readonly part: 'header' | 'transactions' | 'receipts';
  /** Such as `requestsHash` or `accessList of transaction 3`. */
  readonly field: string;
}

export interface LogsPage {
  readonly range: BlockRange;
  /** Ascending, with `blockTimestamp`. */
  readonly logs: readonly Log[];
  /** As in {@link SourceBlock}: a page ends with the file. */
  readonly file?: string;
  /** Hash and timestamp of the last block of the range, if the source names them. */
  readonly last: Pick<Block['header'], 'number' | 'hash' | 'timestamp'> | null;
}
