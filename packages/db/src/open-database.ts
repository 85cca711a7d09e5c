import type { Logger, Registry } from '@chainstead/core';
import type { PoolClient } from 'pg';
import { type Connections, connectUnlessEnded, type End, onClient, useUntil } from './client-use.ts';
import { columnParsers } from './column-parsers.ts';
import { measuredConnections, measureOutages } from './connection-metrics.ts';
import { copyInto } from './copy-into.ts';
import { copyTogether } from './copy-together.ts';
import type { Database, ReadDatabase, Transaction } from './database.ts';
import { DatabaseError } from './database-error.ts';
import { createOutageWatch, type OutageWatch } from './database-outage.ts';
import { createNotifications, type SendNotifications } from './notify.ts';
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
  /** Where connections and outages are shown. @default nowhere */
  readonly metrics?: Registry;
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
  const { metrics } = options;
  const connections = metrics === undefined ? pool : measuredConnections(metrics, 'main', pool);
  if (metrics !== undefined) measureOutages(metrics, outages.isAway);
  const transactions: Transactions = { connections, notify: createNotifications(metrics) };
  let closed: Promise<void> | undefined;
  const shared: Omit<Database, Asking> = {
    pool,
    until: (signal, how = 'cut') => ({ ...shared, ...endedBy(transactions, { signal, how }, outages) }),
    session: ({ queryTimeoutMs } = {}) =>
      openSession({ types: columnParsers, ...(queryTimeoutMs === undefined ? {} : { query_timeout: queryTimeoutMs }) }),
    close() {
      closed ??= pool.end();
      return closed;
    },
  };
  return {
    ...shared,
    ...reading((text, values) => outages.watch(() => runQuery(connections, text, values))),
    transaction: (work) => outages.watch(() => runTransaction(transactions, work)),
  };
}

type Asking = 'query' | 'transaction' | keyof ReadDatabase;

/** What transactions run with. */
interface Transactions {
  readonly connections: Connections;
  readonly notify: SendNotifications;
}

function endedBy(transactions: Transactions, end: End, outages: OutageWatch): Pick<Database, Asking> {
  return {
    ...reading((text, values) => outages.watch(() => runQuery(transactions.connections, text, values, end))),
    transaction: (work) => outages.watch(() => runTransaction(transactions, work, end)),
  };
}

function runQuery<Row extends object>(
  connections: Connections,
  text: string,
  values?: readonly unknown[],
  end?: End,
): Promise<Row[]> {
  const run = async (client: PoolClient): Promise<Row[]> => {
    if (values === undefined || !(client instanceof SessionClient)) return queryOn<Row>(client, text, values);
    return (await client.run<Row>(text, [...values])).rows;
  };
  return onClient(connections, run, end);
}

async function queryOn<Row extends object>(
  client: PoolClient,
  text: string,
  values?: readonly unknown[],
): Promise<Row[]> {
  const result = await client.query<Row>(text, values === undefined ? undefined : [...values]);
  return result.rows;
}

/** One server has one state: what is read of it is never older than before. */
function reading(query: Database['query']): Pick<Database, 'query' | keyof ReadDatabase> {
  const select: ReadDatabase['select'] = (text, values = []) => query(text, values);
  return { query, select, selectLasting: select };
}

async function runTransaction<T>(
  { connections, notify }: Transactions,
  work: (transaction: Transaction) => Promise<T>,
  end?: End,
): Promise<T> {
  const client = await connectUnlessEnded(connections, end);
  const use = useUntil(client, end);
  const channels = new Set<string>();
  try {
    await client.query('BEGIN');
    const result = await work(transactionOn(client, channels));
    end?.signal.throwIfAborted();
    const ended = await client.query('COMMIT');
    if (ended.command !== 'COMMIT') throw notCommitted();
    const broken = await notify(client, channels);
    if (broken !== undefined) use.break(broken);
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

function transactionOn(client: PoolClient, channels: Set<string>): Transaction {
  return {
    client,
    query: (text, values) => queryOn(client, text, values),
    copy: (table, columns, lines) => copyInto(client, table, columns, lines),
    copyTogether: (copies, around) => copyTogether(client, copies, around),
    together: (ask) => askTogether(client, ask),
    notify: (channel) => void channels.add(channel),
  };
}

/** What `pg` answers to statements in its queue is theirs only as long as it takes them for sent: it has to stay so until all are answered. */
async function askTogether<T extends readonly unknown[]>(
  client: PoolClient,
  ask: () => { readonly [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  const wasPipelined = client.pipeline;
  Object.assign(client, { pipeline: true });
  try {
    const asked = ask();
    const answers = await Promise.allSettled(asked);
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    if (failures.length > 0) throw failures.find((reason) => !isAfterFailure(reason)) ?? failures[0];
    return (await Promise.all(asked)) as unknown as T;
  } finally {
    Object.assign(client, { pipeline: wasPipelined });
  }
}

/** Of a statement in a transaction in which another one has failed. */
function isAfterFailure(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === IN_FAILED_TRANSACTION;
}

const IN_FAILED_TRANSACTION = '25P02';

function notCommitted(): DatabaseError {
  return new DatabaseError({
    code: 'TRANSACTION_NOT_COMMITTED',
    message: 'Postgres rolled back a transaction that was to be committed',
    remedy: 'A statement in it failed and its error was swallowed: let errors leave the transaction callback',
    retryable: false,
  });
}
