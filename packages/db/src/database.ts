import type { PoolClient } from 'pg';

/** Rows of a COPY in text format: one line a row without the newline, columns separated by tabs (see copy-text.ts). */
export type CopyLines = Iterable<string>;

/** One transaction on one connection. Committed when the callback resolves, rolled back when it throws. */
export interface Transaction {
  readonly client: PoolClient;
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Streams lines into a table. @returns how many rows were copied. */
  copy(table: string, columns: readonly string[], lines: CopyLines): Promise<number>;
}

export interface Database {
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
