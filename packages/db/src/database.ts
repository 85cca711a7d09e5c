import type { Pool, PoolClient } from 'pg';
import type { CountBytes } from './connections/client-use.ts';
import type { SessionClient } from './connections/session-client.ts';
import type { Sql } from './sql.ts';

/**
 * Rows of a COPY. Text format: one line per row without the newline, columns separated by tabs (copy-text.ts). Binary
 * format for all rows: one character per byte (row-writer.ts).
 */
export type CopyLines = Iterable<string>;

/** Rows in memory to copy to a table. */
export interface Copy {
  readonly table: string;
  readonly columns: readonly string[];
  /** See {@link CopyLines}. */
  readonly lines: readonly string[];
}

/** Statements without parameters that are sent together with copies. */
export interface StatementsAround {
  readonly before?: readonly Sql[];
  readonly after?: readonly Sql[];
}

/** One transaction on one connection. Commits when the callback resolves, rolls back when it throws. */
export interface Transaction {
  readonly client: PoolClient;
  query<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
  /** Streams lines into a table. @returns the number of copied rows */
  copy(table: string, columns: readonly string[], lines: CopyLines): Promise<number>;
  /**
   * Copies rows into several tables in one round trip. All rows are sent together: for thousands of rows, not millions.
   * @returns the number of rows copied to each table
   */
  copyTogether(copies: readonly Copy[], around?: StatementsAround): Promise<readonly number[]>;
  /**
   * Pipelines the statements started by `ask`, which may not include copies.
   * @returns the results of all. @throws the first error that is not a consequence of another one
   */
  together<T extends readonly unknown[]>(ask: () => { readonly [K in keyof T]: Promise<T[K]> }): Promise<T>;
  /**
   * Notifies listeners of the channel once this transaction has committed. Notifications can be lost, so listeners also
   * poll.
   */
  notify(channel: string): void;
}

/** Read-only queries, on the primary or on a standby. */
export interface ReadDatabase {
  /** Returns the rows of one read-only statement. */
  select<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
  /**
   * Like {@link select}, for values that are cached for later requests: after that, no request reads an older state.
   */
  selectLasting<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
}

/** A connection of {@link Database.pool}. */
export type PooledConnection = PoolClient;

export interface Database extends ReadDatabase {
  /**
   * For libraries with their own queries (drizzle, BullMQ). It uses the type parsers of this package
   * (open-database.ts).
   */
  readonly pool: Pool;
  query<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
  /**
   * Runs a transaction without retries: only the caller knows whether its work may run twice.
   * @throws {DatabaseError} TRANSACTION_NOT_COMMITTED if a statement's error was swallowed and Postgres rolled back
   * instead.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * Returns the same database for work that must end when the signal aborts. Its connections are then cut, because an
   * unresponsive server would delay it by minutes. With `cancel`, the running statement is canceled on the server
   * instead, and the connection stays usable. Either way, running calls reject with the signal's reason. @default 'cut'
   * @param counting called when a query or transaction begins. The function that it returns is called with the bytes of
   * each piece from the server. If that throws, the connection is cut, and the call rejects with the error.
   */
  until(signal: AbortSignal, how?: 'cut' | 'cancel', counting?: () => CountBytes): Database;
  /**
   * Returns a separate connection, outside the pool and not behind a transaction pooler. The caller connects and ends
   * it.
   */
  session(options?: { readonly queryTimeoutMs?: number }): SessionClient;
  /** Waits for running queries, then closes every connection. Safe to call twice. */
  close(): Promise<void>;
}
