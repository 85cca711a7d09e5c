import type { Pool, PoolClient } from 'pg';
import type { CountBytes } from './connections/connection-metrics.ts';
import type { SessionClient } from './connections/session-client.ts';
import type { Sql } from './sql.ts';

/** Text: one line per row, tabs (copy-text.ts). Binary: one character per byte (row-writer.ts). */
export type CopyLines = Iterable<string>;

export interface Copy {
  readonly table: string;
  readonly columns: readonly string[];
  readonly lines: readonly string[];
}

export interface StatementsAround {
  readonly before?: readonly Sql[];
  readonly after?: readonly Sql[];
}

/** On one connection. Commits when the callback resolves, rolls back when it throws. */
export interface Transaction {
  readonly client: PoolClient;
  query<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
  /** Streams. @returns copied rows */
  copy(table: string, columns: readonly string[], lines: CopyLines): Promise<number>;
  /** One round trip with all rows: for thousands. @returns rows by table */
  copyTogether(copies: readonly Copy[], around?: StatementsAround): Promise<readonly number[]>;
  /** Pipelines statements, no copies. @throws the first error that caused the others */
  together<T extends readonly unknown[]>(ask: () => { readonly [K in keyof T]: Promise<T[K]> }): Promise<T>;
  /** After the commit. Notifications can be lost, so listeners also poll. */
  notify(channel: string): void;
}

export interface ReadDatabase {
  select<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
  /** For cached values: no later request reads an older state. */
  selectLasting<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
}

export type PooledConnection = PoolClient;

export interface Database extends ReadDatabase {
  /** For libraries with queries. Uses this package's type parsers (open-database.ts). */
  readonly pool: Pool;
  query<Row extends object = Record<string, unknown>>(statement: Sql): Promise<Row[]>;
  /** No retries. @throws {DatabaseError} TRANSACTION_NOT_COMMITTED if an error was swallowed */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * For work until the signal aborts; calls then reject with its reason. `cut` closes connections,
   * since an unresponsive server would delay it by minutes; `cancel` keeps them. @default 'cut'
   * @param counting per query or transaction; its function gets the bytes, and cuts by throwing
   */
  until(signal: AbortSignal, how?: 'cut' | 'cancel', counting?: () => CountBytes): Database;
  /** Outside the pool and transaction poolers. The caller connects and ends it. */
  session(options?: { readonly queryTimeoutMs?: number }): SessionClient;
  /** Waits for queries. Safe to call twice. */
  close(): Promise<void>;
}
