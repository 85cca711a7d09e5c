import type { Pool, PoolClient } from 'pg';
import type { SessionClient } from './session-client.ts';

/**
 * Rows of a COPY: in text format one line a row without the newline, columns separated by tabs (copy-text.ts); or all of them in binary format, a
 * character a byte (row-writer.ts).
 */
export type CopyLines = Iterable<string>;

/** Rows in memory that a table gets. */
export interface Copy {
  readonly table: string;
  readonly columns: readonly string[];
  /** As {@link CopyLines}. */
  readonly lines: readonly string[];
}

/** Statements without values that a copy of several tables is sent with. */
export interface StatementsAround {
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** One transaction on one connection. Committed when the callback resolves, rolled back when it throws. */
export interface Transaction {
  readonly client: PoolClient;
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Streams lines into a table. @returns how many rows were copied. */
  copy(table: string, columns: readonly string[], lines: CopyLines): Promise<number>;
  /** Copies rows into several tables in one round trip. All of it is on its way at once: for thousands of rows, not for millions. @returns how many rows were copied to each */
  copyTogether(copies: readonly Copy[], around?: StatementsAround): Promise<readonly number[]>;
  /**
   * Sends the statements that `ask` begins one behind the other, without waiting for the answers in between. No copies may be among them.
   * @returns the answers once all are there. @throws what the first of them was rejected with that did not merely come after another's failure
   */
  together<T extends readonly unknown[]>(ask: () => { readonly [K in keyof T]: Promise<T[K]> }): Promise<T>;
  /** Wakes those that listen to the channel once this transaction has committed. It can be lost: listeners look by themselves, too. */
  notify(channel: string): void;
}

/** What can be asked where nothing can be changed: of the primary, or of a standby that follows it. */
export interface ReadDatabase {
  /** The rows of one statement that changes nothing. */
  select<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** As {@link select}, of what is remembered for later requests: from then on none is answered from an older state. */
  selectLasting<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<Row[]>;
}

export interface Database extends ReadDatabase {
  /** For libraries that bring their own queries (drizzle, BullMQ). Its type parsers are this package's (open-database.ts). */
  readonly pool: Pool;
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Retrying is the caller's matter: only the caller knows whether its work may run twice.
   * @throws {DatabaseError} TRANSACTION_NOT_COMMITTED when a statement's error was swallowed and Postgres rolled back instead.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * The same database for work that has to end when the signal aborts: connections under it are cut then, since a server that fell silent
   * would leave it waiting for minutes. With `cancel`, the server is asked to give up the statement under way instead, and the connection
   * can be used again. Either way what was under way is rejected with the signal's reason. @default 'cut'
   */
  until(signal: AbortSignal, how?: 'cut' | 'cancel'): Database;
  /** A connection of its own, outside the pool and behind no pooler of transactions. Not connected yet; the caller ends it. */
  session(options?: { readonly queryTimeoutMs?: number }): SessionClient;
  /** Waits for running queries, then closes every connection. Safe to call twice. */
  close(): Promise<void>;
}
