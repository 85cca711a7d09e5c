import type { Logger } from '@chainstead/core';
import { type CustomTypesConfig, Pool, type PoolClient, types } from 'pg';
import { copyInto } from './copy-into.ts';
import type { Database, Transaction } from './database.ts';
import { DatabaseError } from './database-error.ts';

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Connections at most. @default 10 */
  readonly poolSize?: number;
  readonly logger: Logger;
}

/**
 * Opens a connection pool; nothing connects before the first query.
 *
 * Values arrive as: `bigint` → number (refused beyond 2^53 − 1), `numeric` → text (in arrays too), `timestamptz` → Date, `bytea` → Buffer.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.poolSize ?? 10,
    keepAlive: true,
    types: columnParsers,
  });
  // Without a listener, an idle connection that breaks would end the process.
  pool.on('error', (error) => options.logger.warn({ err: error }, 'Idle database connection lost'));
  let closed: Promise<void> | undefined;
  return {
    pool,
    async query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
      const result = await pool.query<Row>(text, values === undefined ? undefined : [...values]);
      return result.rows;
    },
    transaction: (work) => runTransaction(pool, work),
    close() {
      closed ??= pool.end();
      return closed;
    },
  };
}

async function runTransaction<T>(pool: Pool, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await client.query('BEGIN');
    const result = await work(transactionOn(client));
    const ended = await client.query('COMMIT');
    if (ended.command !== 'COMMIT') throw notCommitted();
    return result;
  } catch (error) {
    try {
      await client.query('ROLLBACK');
    } catch (rollbackError) {
      broken ??= rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
    }
    throw error;
  } finally {
    client.removeListener('error', onError);
    client.release(broken);
  }
}

function transactionOn(client: PoolClient): Transaction {
  return {
    client,
    async query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
      const result = await client.query<Row>(text, values === undefined ? undefined : [...values]);
      return result.rows;
    },
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
