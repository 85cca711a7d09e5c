import { counter, defineMetrics, type Logger, type Registry } from '@chainstead/core';
import { type PoolClient, DatabaseError as PostgresError } from 'pg';
import { columnParsers } from './columns/column-parsers.ts';
import {
  type Connections,
  connectUnlessEnded,
  type End,
  measuredConnections,
  measureOutages,
  onClient,
  useUntil,
} from './connections/connection-metrics.ts';
import { type ConnectionOptions, openPool, sessionsOf } from './connections/open-pool.ts';
import { queryOn } from './connections/query-on.ts';
import { SessionClient } from './connections/session-client.ts';
import { copyInto } from './copy/copy-into.ts';
import { copyTogether } from './copy/copy-together.ts';
import type { Database, ReadDatabase, Transaction } from './database.ts';
import { DatabaseError } from './database-error.ts';
import { createOutageWatch, type OutageWatch } from './database-outage.ts';
import { type Sql, sql, statementOf } from './sql.ts';

export interface DatabaseOptions extends ConnectionOptions {
  readonly poolSize?: number;
  /** For few, repeated texts. A pooler that can't keep statements is detected. @default false */
  readonly prepared?: boolean;
  readonly logger: Logger;
  readonly metrics?: Registry;
}

/**
 * Connects at the first query. `bigint`: number (error beyond 2^53 − 1), `numeric`: text,
 * `timestamptz`: Date, `bytea`: Buffer. @throws {DatabaseError} DATABASE_URL_INVALID
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
    until: (signal, how = 'cut', counting) => ({
      ...shared,
      ...endedBy(transactions, { signal, how, counting }, outages),
    }),
    session: ({ queryTimeoutMs } = {}) =>
      openSession({
        types: columnParsers,
        ...(queryTimeoutMs === undefined ? {} : { query_timeout: queryTimeoutMs }),
      }),
    close() {
      closed ??= pool.end();
      return closed;
    },
  };
  return {
    ...shared,
    ...reading((statement, how) => outages.watch(() => runQuery(connections, statement, how))),
    transaction: (work) => outages.watch(() => runTransaction(transactions, work)),
  };
}

type Asking = 'query' | 'transaction' | keyof ReadDatabase;

interface Transactions {
  readonly connections: Connections;
  readonly notify: SendNotifications;
}

function endedBy(transactions: Transactions, end: End, outages: OutageWatch): Pick<Database, Asking> {
  return {
    ...reading((statement, how) => outages.watch(() => runQuery(transactions.connections, statement, how, end))),
    transaction: (work) => outages.watch(() => runTransaction(transactions, work, end)),
  };
}

/** Without values, a text may be several statements, never prepared. */
type Preparing = 'prepared' | 'prepared if it has values';

function runQuery<Row extends object>(
  connections: Connections,
  statement: Sql,
  how: Preparing,
  end?: End,
): Promise<Row[]> {
  const { text, values } = statementOf(statement);
  const run = (client: PoolClient): Promise<Row[]> => {
    const isPrepared = how === 'prepared' || values.length > 0;
    if (!isPrepared || !(client instanceof SessionClient)) return queryOn<Row>(client, statement);
    return client.queryPrepared<Row>(text, [...values]);
  };
  return onClient(connections, run, end);
}

type Run = <Row extends object>(statement: Sql, how: Preparing) => Promise<Row[]>;

/** A single server never returns an older state. */
function reading(run: Run): Pick<Database, 'query' | keyof ReadDatabase> {
  const select: ReadDatabase['select'] = (statement) => run(statement, 'prepared');
  return { query: (statement) => run(statement, 'prepared if it has values'), select, selectLasting: select };
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
    use.throwIfRefused();
    const ended = await client.query('COMMIT');
    if (ended.command !== 'COMMIT') throw notCommitted();
    const broken = await notify(client, channels);
    if (broken !== undefined) use.break(broken);
    return result;
  } catch (error) {
    // A cancel request must not hit the ROLLBACK.
    if ((await use.settle()) === undefined)
      try {
        await client.query('ROLLBACK');
      } catch (rollbackError) {
        use.break(rollbackError);
      }
    throw use.reasonOf(error);
  } finally {
    client.release(await use.settle());
  }
}

function transactionOn(client: PoolClient, channels: Set<string>): Transaction {
  return {
    client,
    query: (statement) => queryOn(client, statement),
    copy: (table, columns, lines) => copyInto(client, table, columns, lines),
    copyTogether: (copies, around) => copyTogether(client, copies, around),
    together: (ask) => runTogether(client, ask),
    notify: (channel) => void channels.add(channel),
  };
}

/** `pg` matches queued responses only while pipelining: it stays on until all are answered. */
async function runTogether<T extends readonly unknown[]>(
  client: PoolClient,
  ask: () => { readonly [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  const wasPipelined = client.pipeline;
  Object.assign(client, { pipeline: true });
  try {
    const requested = ask();
    const answers = await Promise.allSettled(requested);
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    const isConsequence = (error: unknown): boolean =>
      error instanceof Error && 'code' in error && error.code === IN_FAILED_TRANSACTION;
    if (failures.length > 0) throw failures.find((reason) => !isConsequence(reason)) ?? failures[0];
    return (await Promise.all(requested)) as unknown as T;
  } finally {
    Object.assign(client, { pipeline: wasPipelined });
  }
}

const IN_FAILED_TRANSACTION = '25P02';

function notCommitted(): DatabaseError {
  return new DatabaseError({
    code: 'TRANSACTION_NOT_COMMITTED',
    message: 'Postgres rolled back a transaction at its commit',
    remedy: 'Let errors leave the transaction callback. A statement failed in it, and its error was caught',
    retryable: false,
  });
}

type SendNotifications = (client: PoolClient, channels: ReadonlySet<string>) => Promise<unknown>;

export const createNotificationMetrics = defineMetrics('chainstead_database', {
  notificationsDropped: counter(
    'Number of notifications dropped because the Postgres queue was full. Listeners find the work when they poll',
  ),
});

/** Any role can fill the queue, which would fail a commit: excess ones are dropped. */
function createNotifications(metrics: Registry | undefined): SendNotifications {
  const dropped = metrics && createNotificationMetrics(metrics).notificationsDropped;
  return async (client, channels) => {
    if (channels.size === 0) return undefined;
    try {
      // Reading the usage also frees read notifications.
      const sent = await queryOn(
        client,
        sql`SELECT pg_notify(channel, '') FROM unnest(${[...channels]}::text[]) AS channel
           WHERE (SELECT pg_notification_queue_usage()) < 0.5`,
      );
      dropped?.inc(channels.size - sent.length);
      return undefined;
    } catch (error) {
      dropped?.inc(channels.size);
      return error instanceof PostgresError ? undefined : error;
    }
  };
}
