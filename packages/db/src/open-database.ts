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
  /**
   * Keep the statements of {@link Database.query} prepared on each connection, a bounded number of them. For callers that ask for the
   * same few shapes again and again: the text must be the same for the same shape. Those without `values`, and transactions, are not
   * prepared. A pooler that can't keep statements is found out, and told of once. @default false
   */
  readonly prepared?: boolean;
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
    until: (signal, how = 'cut') => ({ ...shared, ...endedBy(pool, { signal, how }, outages) }),
    session: ({ queryTimeoutMs } = {}) =>
      openSession({ types: columnParsers, ...(queryTimeoutMs === undefined ? {} : { query_timeout: queryTimeoutMs }) }),
    close() {
      closed ??= pool.end();
      return closed;
    },
  };
  return {
    ...shared,
    query: (text, values) => outages.watch(() => runQuery(pool, text, values)),
    transaction: (work) => outages.watch(() => runTransaction(pool, work)),
  };
}

/** When work has to end, and what becomes of its connection. */
interface End {
  readonly signal: AbortSignal;
  readonly how: 'cut' | 'cancel';
}

function endedBy(pool: Pool, end: End, outages: OutageWatch): Pick<Database, 'query' | 'transaction'> {
  return {
    query: (text, values) => outages.watch(() => runQuery(pool, text, values, end)),
    transaction: (work) => outages.watch(() => runTransaction(pool, work, end)),
  };
}

async function runQuery<Row extends object>(
  pool: Pool,
  text: string,
  values?: readonly unknown[],
  end?: End,
): Promise<Row[]> {
  const client = await connectUnlessEnded(pool, end);
  const use = useUntil(client, end);
  try {
    if (values === undefined || !(client instanceof SessionClient)) return await queryOn<Row>(client, text, values);
    return (await client.run<Row>(text, [...values])).rows;
  } catch (error) {
    throw end?.signal.aborted === true ? end.signal.reason : error;
  } finally {
    client.release(await use.settle());
  }
}

/** A connection is not free at once: by then nobody may want it any more. */
async function connectUnlessEnded(pool: Pool, end?: End): Promise<PoolClient> {
  end?.signal.throwIfAborted();
  const client = await pool.connect();
  if (end?.signal.aborted !== true) return client;
  client.release();
  throw end.signal.reason;
}

async function queryOn<Row extends object>(
  client: PoolClient,
  text: string,
  values?: readonly unknown[],
): Promise<Row[]> {
  const result = await client.query<Row>(text, values === undefined ? undefined : [...values]);
  return result.rows;
}

async function runTransaction<T>(pool: Pool, work: (transaction: Transaction) => Promise<T>, end?: End): Promise<T> {
  const client = await connectUnlessEnded(pool, end);
  const use = useUntil(client, end);
  try {
    await client.query('BEGIN');
    const result = await work(transactionOn(client));
    end?.signal.throwIfAborted();
    const ended = await client.query('COMMIT');
    if (ended.command !== 'COMMIT') throw notCommitted();
    return result;
  } catch (error) {
    // A request to cancel that is under way must not hit the ROLLBACK.
    if ((await use.settle()) === undefined)
      try {
        await client.query('ROLLBACK');
      } catch (rollbackError) {
        use.break(rollbackError);
      }
    throw end?.signal.aborted === true ? end.signal.reason : error;
  } finally {
    client.release(await use.settle());
  }
}

interface Use {
  break(error: unknown): void;
  /** After that the signal changes nothing any more. @returns why the connection must not be used again, or undefined */
  settle(): Promise<Error | undefined>;
}

/** Ends what is under way on the connection when the signal aborts. */
function useUntil(client: PoolClient, end?: End): Use {
  let broken: Error | undefined;
  let cancelling: Promise<void> | undefined;
  const onBreak = (error: unknown): void => {
    broken ??= error instanceof Error ? error : new Error(String(error));
  };
  const cut = (reason: unknown): void => {
    onBreak(reason);
    if (client instanceof SessionClient) client.destroy();
  };
  const onAbort = (): void => {
    if (end?.how === 'cancel' && client instanceof SessionClient) cancelling = client.cancel().catch(cut);
    else cut(end?.signal.reason);
  };
  client.on('error', onBreak);
  end?.signal.addEventListener('abort', onAbort, { once: true });
  return {
    break: onBreak,
    async settle() {
      end?.signal.removeEventListener('abort', onAbort);
      await cancelling;
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
