import { errorText, type Logger } from '@chainstead/core';
import { DatabaseError as PostgresError } from 'pg';
import { DatabaseError } from './database-error.ts';

/** The database is unavailable, full or read-only. A later retry helps. Facts contain the SQLSTATE if there is one. */
export class DatabaseUnavailableError extends DatabaseError {
  constructor(reason: string, sqlstate: string | null, cause: unknown) {
    super({
      code: 'DATABASE_UNAVAILABLE',
      message: `The database ${reason}: ${errorText(cause)}`,
      facts: { sqlstate },
      remedy: 'Check the Postgres server and its free disk space. Work resumes automatically',
      retryable: true,
      cause,
    });
  }
}

/** Server errors not caused by the query. Two characters match a class, five a single code. */
const REASONS: Readonly<Record<string, string>> = {
  '08': "can't be reached",
  '53100': 'has no disk space left',
  '53200': 'is out of memory',
  '53300': 'has no connection left',
  '53400': 'has reached a limit of its configuration',
  '57P01': 'is shutting down',
  '57P02': 'is restarting after a crash',
  '57P03': 'does not accept connections now',
  '25006': 'is read-only',
  '58030': "can't read or write its disk",
};

const NETWORK_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Messages of node-postgres for a lost connection: these errors have no code. */
const CONNECTION_GONE =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered a connection error/;

/** The error to throw for a failed query or connection: outages as one class, all others unchanged. */
export function outageOr(thrown: unknown): unknown {
  const error = withSqlstate(thrown);
  if (error instanceof PostgresError) {
    const sqlstate = error.code ?? '';
    const reason = REASONS[sqlstate] ?? REASONS[sqlstate.slice(0, 2)];
    return reason === undefined ? error : new DatabaseUnavailableError(reason, sqlstate, error);
  }
  // All hosts of the URL were tried.
  if (error instanceof DatabaseError && error.code === 'DATABASE_HOSTS_UNUSABLE')
    return new DatabaseUnavailableError("can't be reached", null, error);
  if (!(error instanceof Error) || error instanceof DatabaseError) return error;
  const isGone = ('code' in error && NETWORK_CODES.has(error.code)) || CONNECTION_GONE.test(error.message);
  return isGone ? new DatabaseUnavailableError("can't be reached", null, error) : error;
}

/** The error, or any of its causes, is a database outage. */
export function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof DatabaseUnavailableError) return true;
  return false;
}

/** Throws outages as {@link DatabaseUnavailableError}, and logs the start and the end of each once. */
export interface OutageWatch {
  watch<T>(query: () => Promise<T>): Promise<T>;
  /** An outage is ongoing. */
  isAway(): boolean;
}

/** A full or read-only server still responds to reads: it is available again after this time without an error. */
const WELL_AFTER_MS = 30_000;

/** One for all connections of a pool. */
export function createOutageWatch(logger: Logger): OutageWatch {
  let since: number | null = null;
  // Before the first response there is no outage: the code that opens the database reports its error.
  let hasAnswered = false;
  let failedAt = 0;
  let isAnswering = false;

  function failed(outage: DatabaseUnavailableError): void {
    failedAt = performance.now();
    // Class 25 or 53 comes from a server that otherwise works, class 08 (but 08P01 of PgBouncer) from one with a missing node.
    isAnswering = /^(08(?!P01)|25|53)/.test(String(outage.facts.sqlstate));
    if (since !== null || !hasAnswered) return;
    since = failedAt;
    logger.error({ reason: outage.message }, 'Database unavailable');
  }

  function succeeded(): void {
    hasAnswered = true;
    if (since === null || (isAnswering && performance.now() - failedAt < WELL_AFTER_MS)) return;
    logger.info({ outage_ms: Math.round(performance.now() - since) }, 'Database available again');
    since = null;
  }

  return {
    isAway: () => since !== null,
    async watch(query) {
      try {
        const result = await query();
        succeeded();
        return result;
      } catch (error) {
        const thrown = outageOr(error);
        if (thrown instanceof DatabaseUnavailableError) failed(thrown);
        throw thrown;
      }
    },
  };
}

/** SQLSTATE of errors from Citus. */
const INTERNAL_ERROR = 'XX000';

/** Message prefixes from the server of a shard, in its language, which is English by default. */
const SQLSTATES: readonly (readonly [RegExp, string])[] = [
  [/^duplicate key value violates unique constraint/, '23505'],
  [/^no partition of relation/, '23514'],
  [/^deadlock detected/, '40P01'],
  [/^canceling statement due to lock timeout/, '55P03'],
  // A node of the transaction became unavailable.
  [/^failure on connection marked as essential/, '08006'],
];

/** The SQLSTATE of a single server: Citus forwards only the text of a node's error, so deadlocks would not be retried. */
export function withSqlstate(error: unknown): unknown {
  if (!(error instanceof PostgresError) || error.code !== INTERNAL_ERROR) return error;
  const { message } = error;
  const [, code] = SQLSTATES.find(([text]) => text.test(message)) ?? [];
  return code === undefined ? error : Object.assign(error, { code });
}
