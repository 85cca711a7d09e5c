import { type PooledConnection, readBounded } from '@chainstead/db';
import type { PgClient, PgClientQuery, PgClientResult, WithPgClient } from '@dataplan/pg';
import { GraphqlRefusalError, resultTooLarge } from '../refusal.ts';

export interface SnapshotLimits {
  /** Time for all statements together. Milliseconds. */
  readonly timeoutMs: number;
  /** Bytes of all values together, as Postgres sends them. */
  readonly bytesMax: number;
}

/** One read-only transaction: all statements see the same rows. Closes the connection after a failure. */
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
    const result = await within(limits.timeoutMs, work(accessTo(connection, bytes.take)));
    if (!bytes.isExceeded()) {
      await connection.query('COMMIT');
      isUsable = true;
    }
    return result;
  } finally {
    connection.release(!isUsable);
  }
}

/** With old statistics, the planner would read whole tables and sort them, not read a range of an index. */
export const PLANNER_SQL = `SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off;
SET LOCAL enable_incremental_sort = off`;

export function timedOut(timeoutMs: number): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_TIMEOUT',
    `The operation was stopped after ${timeoutMs / 1_000} s`,
    'Request fewer rows, fewer fields or fewer blocks.',
  );
}

/** Returns the connection for the libraries. Statements run one after the other. */
function accessTo(connection: PooledConnection, take: (bytes: number) => void): WithPgClient {
  let last: Promise<unknown> = Promise.resolve();
  const client: PgClient = {
    query<Row>({ text, values = [], arrayMode = false }: PgClientQuery): Promise<PgClientResult<Row>> {
      const result = last.then(async () => {
        const rows = await readBounded<Row>(connection, { text, values, isArray: arrayMode }, take);
        return { rows, rowCount: rows.length };
      });
      // The caller gets a failure. The next statement only waits for the end.
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

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
