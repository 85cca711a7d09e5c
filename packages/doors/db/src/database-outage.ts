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
      remedy: `Check the Postgres server and its free disk space${sqlstate === READ_ONLY ? ', and default_transaction_read_only of role and database' : ''}. Work resumes automatically`,
      retryable: true,
      cause,
    });
  }
}

const READ_ONLY = '25006';

/** Not the query's fault. Two characters: a class; five: a code. */
const REASONS: Readonly<Record<string, string>> = {
  '08': "can't be reached",
  '53100': 'has no disk space left',
  '53200': 'is out of memory',
  '53300': 'has no connection left',
  '53400': 'has reached a limit of its configuration',
  '57P01': 'is shutting down',
  '57P02': 'is restarting after a crash',
  '57P03': 'does not accept connections now',
  [READ_ONLY]: 'is read-only',
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

/** node-postgres gives lost connections no code. */
const CONNECTION_GONE =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered a connection error/;

/** Outages as one class, all other errors unchanged. */
export function outageOr(thrown: unknown): unknown {
  const error = withSqlstate(thrown);
  if (error instanceof PostgresError) {
    const sqlstate = error.code ?? '';
    const reason = REASONS[sqlstate] ?? REASONS[sqlstate.slice(0, 2)];
    return reason === undefined ? error : new DatabaseUnavailableError(reason, sqlstate, error);
  }
  if (error instanceof DatabaseError && error.code === 'DATABASE_HOSTS_UNUSABLE')
    return new DatabaseUnavailableError("can't be reached", null, error);
  if (!(error instanceof Error) || error instanceof DatabaseError) return error;
  const isGone = ('code' in error && NETWORK_CODES.has(error.code)) || CONNECTION_GONE.test(error.message);
  return isGone ? new DatabaseUnavailableError("can't be reached", null, error) : error;
}

export function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof DatabaseUnavailableError) return true;
  return false;
}

/** Throws {@link DatabaseUnavailableError}; logs each outage's start and end. */
export interface OutageWatch {
  watch<T>(query: () => Promise<T>): Promise<T>;
  isAway(): boolean;
}

/** A full or read-only server responds to reads: it counts as back after this time. */
const WELL_AFTER_MS = 30_000;

export function createOutageWatch(logger: Logger): OutageWatch {
  let since: number | null = null;
  // Before the first response, the code that opens the database reports.
  let hasAnswered = false;
  let failedAt = 0;
  let isAnswering = false;

  function failed(outage: DatabaseUnavailableError): void {
    failedAt = performance.now();
    // 25 and 53: a working server; 08 (not PgBouncer's 08P01): one with a missing node.
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

const INTERNAL_ERROR = 'XX000';

/** Prefixes from a shard's server, in English by default. */
const SQLSTATES: readonly (readonly [RegExp, string])[] = [
  [/^duplicate key value violates unique constraint/, '23505'],
  [/^no partition of relation/, '23514'],
  [/^deadlock detected/, '40P01'],
  [/^canceling statement due to lock timeout/, '55P03'],
  [/^failure on connection marked as essential/, '08006'],
];

/** Citus forwards only the text of a node's error: deadlocks would not be retried. */
export function withSqlstate(error: unknown): unknown {
  if (!(error instanceof PostgresError) || error.code !== INTERNAL_ERROR) return error;
  const { message } = error;
  const [, code] = SQLSTATES.find(([text]) => text.test(message)) ?? [];
  return code === undefined ? error : Object.assign(error, { code });
}

/** {@link openDatabase} logs an outage once: its consequences are `debug`. */
export function failureLevel<Level extends 'warn' | 'error' = 'warn'>(
  error: unknown,
  otherwise?: Level,
): Level | 'warn' | 'debug' {
  return isOutage(error) ? 'debug' : (otherwise ?? 'warn');
}
