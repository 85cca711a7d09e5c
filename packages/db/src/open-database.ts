import type { Logger } from '@chainstead/core';
import { type CustomTypesConfig, type Pool, type PoolClient, types } from 'pg';
import { copyInto } from './copy-into.ts';
import type { Database, Transaction } from './database.ts';
import { DatabaseError } from './database-error.ts';
import { createOutageWatch, type OutageWatch } from './database-outage.ts';
import { type ConnectionOptions, openPool, sessionsOf } from './open-pool.ts';
import { SessionClient } from './session-client.ts';

export interface DatabaseOptions extends ConnectionOptions {
  /** Connections at most. @default 10 */
  readonly poolSize?: number;
  readonly logger: Logger;
}

/**
 * Opens a connection pool; nothing connects before the first query.
 *
 * What makes every query fail alike (server away, full, read-only) is thrown as {@link DatabaseUnavailableError} and logged once.
 *
 * Values arrive as: `bigint` → number (refused beyond 2^53 − 1), `numeric` → text (in arrays too), `timestamptz` → Date, `bytea` → Buffer.
 * @throws {DatabaseError} DATABASE_URL_INVALID
 */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = openPool({ ...options, size: options.poolSize ?? 10 }, { types: columnParsers });
  const openSession = sessionsOf(options);
  const outages = createOutageWatch(options.logger);
  let closed: Promise<void> | undefined;
  const shared: Omit<Database, 'query' | 'transaction'> = {
    pool,
    until: (signal) => ({ ...shared, ...cutBy(pool, signal, outages) }),
    session: ({ queryTimeoutMs } = {}) =>
      openSession({ types: columnParsers, ...(queryTimeoutMs === undefined ? {} : { query_timeout: queryTimeoutMs }) }),
    close() {
      closed ??= pool.end();
      return closed;
    },
  };
  return {
    ...shared,
    query: (text, values) => outages.watch(() => queryOn(pool, text, values)),
    transaction: (work) => outages.watch(() => runTransaction(pool, work)),
  };
}

function cutBy(pool: Pool, signal: AbortSignal, outages: OutageWatch): Pick<Database, 'query' | 'transaction'> {
  return {
    query: <Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> =>
      outages.watch(async () => {
        signal.throwIfAborted();
        const client = await pool.connect();
        const cut = cutOnAbort(client, signal);
        try {
          return await queryOn<Row>(client, text, values);
        } catch (error) {
          throw signal.aborted ? signal.reason : error;
        } finally {
          client.release(cut.end());
        }
      }),
    transaction: (work) => outages.watch(() => runTransaction(pool, work, signal)),
  };
}

async function queryOn<Row extends object>(
  source: Pool | PoolClient,
  text: string,
  values?: readonly unknown[],
): Promise<Row[]> {
  const result = await source.query<Row>(text, values === undefined ? undefined : [...values]);
  return result.rows;
}

async function runTransaction<T>(
  pool: Pool,
  work: (transaction: Transaction) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  const client = await pool.connect();
  const cut = cutOnAbort(client, signal);
  try {
    await client.query('BEGIN');
    const result = await work(transactionOn(client));
    signal?.throwIfAborted();
    const ended = await client.query('COMMIT');
    if (ended.command !== 'COMMIT') throw notCommitted();
    return result;
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    try {
      await client.query('ROLLBACK');
    } catch (rollbackError) {
      cut.break(rollbackError);
    }
    throw error;
  } finally {
    client.release(cut.end());
  }
}

/** Ends the connection when the signal aborts. `end` gives why it must not be used again, or undefined. */
function cutOnAbort(
  client: PoolClient,
  signal?: AbortSignal,
): { break(error: unknown): void; end(): Error | undefined } {
  let broken: Error | undefined;
  const onBreak = (error: unknown): void => {
    broken ??= error instanceof Error ? error : new Error(String(error));
  };
  const onAbort = (): void => {
    onBreak(signal?.reason);
    if (client instanceof SessionClient) client.destroy();
  };
  client.on('error', onBreak);
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    break: onBreak,
    end() {
      signal?.removeEventListener('abort', onAbort);
      // A connection that was cut tells of its end later.
      if (broken === undefined) client.removeListener('error', onBreak);
      return broken;
    },
  };
}

function transactionOn(client: PoolClient): Transaction {
  return {
    client,
    query: (text, values) => queryOn(client, text, values),
    copy: (table, columns, lines) => copyInto(client, table, columns, lines),
  };
}

function notCommitted(): DatabaseError {
  return new DatabaseError({
    code: 'TRANSACTION_NOT_COMMITTED',
    message: 'Postgres rolled back a transaction that was to be committed',
    remedy: 'A statement in it failed and its error was swallowed: let errors leave the transaction callback',
    retryable: false,
  });
}

const OID_INT8 = types.builtins.INT8;
const OID_INT8_ARRAY = 1016;
const OID_NUMERIC_ARRAY = 1231;

/** Parsers of one pool, so that other users of `pg` in this process keep theirs. */
const columnParsers: CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format === 'binary') return types.getTypeParser(oid, 'binary');
    if (oid === OID_INT8) return parseSafeInteger;
    if (oid === OID_INT8_ARRAY) return parseSafeIntegers;
    // pg makes floating-point numbers of their elements, and 78 digits would be lost.
    if (oid === OID_NUMERIC_ARRAY) return parseNumerics;
    return types.getTypeParser(oid, 'text');
  },
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new DatabaseError({
    code: 'DATABASE_INTEGER_TOO_LARGE',
    message: `The database returned the integer ${text}, which a JavaScript number cannot hold exactly`,
    facts: { value: text },
    remedy: 'Select it as text',
    retryable: false,
  });
}

const parseSafeIntegers = arrayOf(parseSafeInteger);
const parseNumerics = arrayOf((text) => text);

/** Of arrays with one dimension, whose elements need no quotes. */
function arrayOf<T>(parse: (text: string) => T): (text: string) => (T | null)[] {
  return (text) =>
    text === '{}'
      ? []
      : text
          .slice(1, -1)
          .split(',')
          .map((item) => (item === 'NULL' ? null : parse(item)));
}
