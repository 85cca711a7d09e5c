import { type Clock, createTurns, errorText, type Logger, orAborted, whenAborted } from '@chainstead/core';
import { type PooledConnection, type Sql, statementOf } from '@chainstead/db';
import { endStatement, excessRights, openDatabase, readBounded } from '@chainstead/db/server';
import type { PgClient, PgClientQuery, PgClientResult, WithPgClient } from '@dataplan/pg';
import { GraphqlRefusalError, resultTooLarge } from '../refusal.ts';

export interface Reader {
  /** One read-only transaction. Its statements end with the signal, in Postgres too. */
  inSnapshot<T>(
    work: (withClient: WithPgClient) => Promise<T>,
    options?: Partial<SnapshotLimits> & { readonly signal?: AbortSignal },
  ): Promise<T>;
  /** For subscriptions: one at a time, keys take turns, and any number waits. */
  inTurn<T>(key: string, work: (withClient: WithPgClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface ReaderOptions {
  /** Login of a member of `chainstead_reader` that has no other rights. */
  readonly url: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly limits: SnapshotLimits;
  /** Connections for queries. Subscriptions have one more. */
  readonly concurrency: number;
}

const RIGHTS_MS = 60_000;

/** @throws {DatabaseError} DATABASE_URL_INVALID */
export function openReader({ url, logger, clock, limits, concurrency }: ReaderOptions): Reader {
  const database = openDatabase({
    url,
    applicationName: 'chainstead graphql',
    poolSize: concurrency + 1,
    logger,
  });
  const ofSubscriptions = createTurns({
    atOnce: 1,
    atOncePerKey: 1,
    now: () => clock.now(),
  });
  let checkedAt = Number.NEGATIVE_INFINITY;
  const connect = async (): Promise<PooledConnection> => {
    const connection = await database.pool.connect().catch((error: unknown) => {
      logger.warn({ error: errorText(error) }, 'DATABASE_ANALYST_URL is unavailable');
      const [message, remedy] = [
        'The database of GraphQL is unavailable',
        'Retry in a moment, or use another route.',
      ];
      // The error of the driver may contain the address of the server.
      throw new GraphqlRefusalError('GRAPHQL_UNAVAILABLE', message, remedy);
    });
    if (clock.now() - checkedAt < RIGHTS_MS) return connection;
    try {
      // Invariant: DB-READ-ONLY
      requireReader(await excessRights(connection));
      checkedAt = clock.now();
      return connection;
    } catch (error) {
      connection.release(true);
      throw error;
    }
  };
  return {
    inSnapshot: async (work, own) => inSnapshot(await connect(), { ...limits, logger, ...own }, work),
    inTurn: (key, work) =>
      ofSubscriptions.run(key, async () => inSnapshot(await connect(), { ...limits, logger }, work)),
    close: () => database.close(),
  };
}

function requireReader(excess: string | null): void {
  if (excess === null) return;
  throw new GraphqlRefusalError(
    'GRAPHQL_ROLE_UNSAFE',
    `The role of DATABASE_ANALYST_URL is unsafe. ${excess}`,
    'The operator has to set DATABASE_ANALYST_URL to a role that is only a member of chainstead_reader.',
  );
}

interface SnapshotLimits {
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

interface SnapshotOptions extends SnapshotLimits {
  readonly signal?: AbortSignal;
  readonly logger: Logger;
}

/** All statements see the same rows. A failure closes the connection. @throws the signal's reason */
export async function inSnapshot<T>(
  connection: PooledConnection,
  { timeoutMs, bytesMax, signal, logger }: SnapshotOptions,
  work: (withClient: WithPgClient) => Promise<T>,
): Promise<T> {
  if (signal?.aborted === true) {
    connection.release();
    throw signal.reason;
  }
  const bytes = countBytes(bytesMax);
  const end = new AbortController();
  const forget = whenAborted(signal, () => end.abort(signal?.reason));
  const late = setTimeout(() => end.abort(timedOut(timeoutMs)), timeoutMs);
  let isUsable = false;
  let working: Promise<unknown> = Promise.resolve();
  try {
    await connection.query(
      `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${timeoutMs}; SET LOCAL lock_timeout = 1000;
SET LOCAL TimeZone = 'UTC'; SET LOCAL bytea_output = 'hex'; SET LOCAL jit = off; SET LOCAL search_path = pg_catalog; ${PLANNER_SQL}`,
    );
    const reading = work(accessTo(connection, bytes.take, end.signal));
    working = reading;
    const result = await orAborted(reading, end.signal);
    if (!bytes.isExceeded()) {
      await connection.query('COMMIT');
      isUsable = true;
    }
    return result;
  } finally {
    clearTimeout(late);
    forget();
    if (isUsable) connection.release();
    else if (end.signal.aborted || bytes.isExceeded()) void endStatement(connection, working, logger);
    else connection.release(true);
  }
}

/** With old statistics, the planner would read and sort whole tables. */
export const PLANNER_SQL = `SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off;
SET LOCAL enable_incremental_sort = off`;

function timedOut(timeoutMs: number): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_TIMEOUT',
    `The operation was stopped after ${timeoutMs / 1_000} s`,
    'Request fewer rows, fewer fields or fewer blocks.',
  );
}

function accessTo(
  connection: PooledConnection,
  take: (bytes: number) => void,
  signal: AbortSignal,
): WithPgClient {
  let last: Promise<unknown> = Promise.resolve();
  const client: PgClient = {
    query<Row>({ text, values = [], arrayMode = false }: PgClientQuery): Promise<PgClientResult<Row>> {
      const result = last.then(async () => {
        signal.throwIfAborted();
        const reading = readBounded<Row>(connection, { text, values, isArray: arrayMode }, take);
        const rows = await reading.catch((error: unknown) => {
          throw signal.aborted ? signal.reason : error;
        });
        return { rows, rowCount: rows.length };
      });
      last = Promise.allSettled([result]);
      return result;
    },
    withTransaction(callback) {
      return callback(this);
    },
  };
  return async (_settings, callback) => callback(client);
}

function countBytes(bytesMax: number): { take(bytes: number): void; isExceeded(): boolean } {
  let taken = 0;
  return {
    take(bytes) {
      taken += bytes;
      if (taken > bytesMax) throw resultTooLarge(bytesMax);
    },
    isExceeded: () => taken > bytesMax,
  };
}

export async function readRows<Row>(withClient: WithPgClient, statement: Sql): Promise<readonly Row[]> {
  const { text, values } = statementOf(statement);
  const { rows } = await withClient(null, (client) => client.query<Row>({ text, values: [...values] }));
  return rows;
}
