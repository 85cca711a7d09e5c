import { type Clock, createAnswerBudget, errorText, type Logger, within } from '@chainstead/core';
import { type PooledConnection, type Sql, statementOf } from '@chainstead/db';
import { excessRights, openDatabase, readBounded } from '@chainstead/db/server';
import type { PgClient, PgClientQuery, PgClientResult, WithPgClient } from '@dataplan/pg';
import { GraphqlRefusalError, resultTooLarge } from '../refusal.ts';

export interface Reader {
  /** One read-only transaction. Waits for its turn; refused if too many wait. */
  inSnapshot<T>(work: (withClient: WithPgClient) => Promise<T>, limits?: SnapshotLimits): Promise<T>;
  /** For subscriptions: one at a time, and any number waits. */
  inTurn<T>(work: (withClient: WithPgClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface ReaderOptions {
  /** Login of a member of `chainstead_reader` that has no other rights. */
  readonly url: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly limits: SnapshotLimits;
  /** For queries. Subscriptions have one transaction more. */
  readonly concurrency: number;
}

const WAITING_MAX = 64;
const RIGHTS_MS = 60_000;

/** @throws {DatabaseError} DATABASE_URL_INVALID */
export function openReader({ url, logger, clock, limits, concurrency }: ReaderOptions): Reader {
  const database = openDatabase({
    url,
    applicationName: 'chainstead graphql',
    poolSize: concurrency + 1,
    logger,
  });
  const ofQueries = createAnswerBudget({ bytesMax: Number.POSITIVE_INFINITY, requestsMax: concurrency });
  const ofSubscriptions = createAnswerBudget({ bytesMax: Number.POSITIVE_INFINITY, requestsMax: 1 });
  let running = 0;
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
    async inSnapshot(work, own = limits) {
      const message = `${running} operations are running or waiting`;
      if (running >= concurrency + WAITING_MAX)
        throw new GraphqlRefusalError('GRAPHQL_BUSY', message, 'Retry in a second.');
      running++;
      try {
        return await ofQueries.run(async () => inSnapshot(await connect(), own, work));
      } finally {
        running--;
      }
    },
    inTurn: (work) => ofSubscriptions.run(async () => inSnapshot(await connect(), limits, work)),
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

/** All statements see the same rows. A failure closes the connection. */
export async function inSnapshot<T>(
  connection: PooledConnection,
  limits: SnapshotLimits,
  work: (withClient: WithPgClient) => Promise<T>,
): Promise<T> {
  const bytes = countBytes(limits.bytesMax);
  let isUsable = false;
  try {
    await connection.query(
      `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${limits.timeoutMs}; SET LOCAL lock_timeout = 1000;
SET LOCAL TimeZone = 'UTC'; SET LOCAL bytea_output = 'hex'; SET LOCAL jit = off; SET LOCAL search_path = pg_catalog; ${PLANNER_SQL}`,
    );
    const result = await within(limits.timeoutMs, work(accessTo(connection, bytes.take)), () => {
      throw timedOut(limits.timeoutMs);
    });
    if (!bytes.isExceeded()) {
      await connection.query('COMMIT');
      isUsable = true;
    }
    return result;
  } finally {
    connection.release(!isUsable);
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

function accessTo(connection: PooledConnection, take: (bytes: number) => void): WithPgClient {
  let last: Promise<unknown> = Promise.resolve();
  const client: PgClient = {
    query<Row>({ text, values = [], arrayMode = false }: PgClientQuery): Promise<PgClientResult<Row>> {
      const result = last.then(async () => {
        const rows = await readBounded<Row>(connection, { text, values, isArray: arrayMode }, take);
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
