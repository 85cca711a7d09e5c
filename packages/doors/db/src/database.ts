import type { Pool, PoolClient } from 'pg';
import type { CountBytes } from './connections/client-use.ts';
import type { SessionClient } from './connections/session-client.ts';
import type { Sql } from './sql.ts';

/** Text format: one line per row, columns separated by tabs (copy-text.ts). Binary: one character per byte (row-writer.ts). */
export type CopyLines = Iterable<string>;

/** Rows in memory to copy to a table. */
export interface Copy {
  readonly table: string;
  readonly columns: readonly string[];
  readonly lines: readonly string[];
}

/** Without parameters, sent together with copies. */
export interface StatementsAround {
  readonly before?: readonly Sql[];
  readonly after?: readonly Sql[];
}

/** On one connection. Commits when the callback resolves, rolls back when it throws. */
export interface Transaction {
  readonly client: PoolClient;
  query<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
  /** Streams lines into a table. @returns the number of copied rows */
  copy(table: string, columns: readonly string[], lines: CopyLines): Promise<number>;
  /** In one round trip, with all rows: for thousands, not millions. @returns the number of rows copied to each table */
  copyTogether(copies: readonly Copy[], around?: StatementsAround): Promise<readonly number[]>;
  /** Pipelines the statements started by `ask`, which may not include copies. @throws the first error that caused the others */
  together<T extends readonly unknown[]>(ask: () => { readonly [K in keyof T]: Promise<T[K]> }): Promise<T>;
  /** Once this transaction has committed. Notifications can be lost, so listeners also poll. */
  notify(channel: string): void;
}

/** Read-only, on the primary or on a standby. */
export interface ReadDatabase {
  /** One read-only statement. */
  select<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
  /** For values that are cached for later requests: after that, no request reads an older state. */
  selectLasting<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
}

/** Of {@link Database.pool}. */
export type PooledConnection = PoolClient;

export interface Database extends ReadDatabase {
  /** For libraries with their own queries. It uses the type parsers of this package (open-database.ts). */
  readonly pool: Pool;
  query<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
  /**
   * Without retries: only the caller knows whether its work may run twice.
   * @throws {DatabaseError} TRANSACTION_NOT_COMMITTED if a statement's error was swallowed and Postgres rolled back
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * The same database for work that must end when the signal aborts. Connections are then cut, because an unresponsive
   * server would delay it by minutes; with `cancel`, the statement is canceled and the connection stays usable. Running
   * calls reject with the signal's reason. @default 'cut'
   * @param counting called when a query or transaction begins. The function that it returns gets the bytes of each piece
   * from the server. If that throws, the connection is cut, and the call rejects with the error.
   */
  until(signal: AbortSignal, how?: 'cut' | 'cancel', counting?: () => CountBytes): Database;
  /** Outside the pool and not behind a transaction pooler. The caller connects and ends it. */
  session(options?: { readonly queryTimeoutMs?: number }): SessionClient;
  /** Waits for running queries. Safe to call twice. */
  close(): Promise<void>;
}
