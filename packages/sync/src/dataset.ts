import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Log } from '@chainstead/core';

/** What a decoder may know besides the logs. No clock, no I/O. */
export interface DecodeContext {
  readonly chain: Chain;
  /** Unix seconds of a block in this batch. */
  timestampOf(blockNumber: number): number;
}

/** An index that a bulk backfill may leave out and build later. */
export interface BulkIndex {
  readonly name: string;
  /** What follows `CREATE INDEX [CONCURRENTLY] name`, as in the migration: `ON table USING btree (…)`. */
  readonly definition: string;
}

/**
 * One kind of rows that blocks cause. Everything about it is pure and declarative; the sync engine reads, proves and
 * writes. To add a dataset: one folder that exports one of these, and one line in the registry.
 */
export interface Dataset<Row = unknown> {
  /** Stable name, used in coverage rows and `--dataset`: `erc20-transfers`. */
  readonly name: string;
  /** topic0 values that it decodes; the engine asks upstreams for the union. */
  readonly topics: readonly Hash[];
  /** SQL table with at least `chain_id` and `block_number`. */
  readonly table: string;
  /** Columns in the order of `copyLine`. */
  readonly columns: readonly string[];
  /** The natural primary key, a subset of `columns`. */
  readonly key: readonly string[];
  /** Secondary indexes that a declared bulk backfill drops and builds afterwards. */
  readonly bulkIndexes?: readonly BulkIndex[];
  /** Rows for these logs (of one or more blocks, in chain order). Ignores what is not its own. */
  decode(logs: readonly Log[], context: DecodeContext): Row[];
  /** The row in COPY text format (packages/db copy-text). The first column should be the first of the key, so that sorting lines gives index locality. */
  copyLine(row: Row): string;
  /** Token contracts that the rows mention, for the token facts queue. */
  contracts?(
    rows: readonly Row[],
  ): Iterable<{ readonly address: Address; readonly standard: 'erc20' | 'erc721' | 'erc1155' }>;
}
