import { errorText, type Logger } from '@chainstead/core';
import { DatabaseError as PostgresError } from 'pg';
import { DatabaseError } from './database-error.ts';
import { withSqlstate } from './restored-sqlstate.ts';

/**
 * The database can't do what was asked, whatever that was: it is away, full or read-only. `message` names it and says why;
 * trying again later helps. Its facts hold the SQLSTATE, where the server gave one.
 */
export class DatabaseUnavailableError extends DatabaseError {
  constructor(reason: string, sqlstate: string | null, cause: unknown) {
    super({
      code: 'DATABASE_UNAVAILABLE',
      message: `The database ${reason}: ${errorText(cause)}`,
      facts: { sqlstate },
      remedy: 'See to the database server: work goes on by itself once it answers and has space',
      retryable: true,
      cause,
    });
  }
}

/** What the server says when it is not the query's fault. Classes by two characters, single codes by five. */
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

/** How node-postgres says that a connection is gone: its errors have no codes. */
const CONNECTION_GONE =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered a connection error/;

/** An error of a query or connection as it is to be thrown: outages under one class, everything else unchanged. */
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

/** Whether something failed since the database is away, full or read-only, however deep below that is. */
export function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof DatabaseUnavailableError) return true;
  return false;
}

/** Runs queries, throws outages as such, and tells one once when it begins and once when it is over. */
export interface OutageWatch {
  watch<T>(query: () => Promise<T>): Promise<T>;
  /** Whether an outage that began is not over yet. */
  isAway(): boolean;
}

/** A full or read-only server still answers reads: it counts as well when nothing has failed for so long. */
const WELL_AFTER_MS = 30_000;

/** For all connections of a pool. */
export function createOutageWatch(logger: Logger): OutageWatch {
  let since: number | null = null;
  // Before the first answer nothing has broken off: whoever opens the database tells why it can't.
  let hasAnswered = false;
  let failedAt = 0;
  let isAnswering = false;

  function failed(outage: DatabaseUnavailableError): void {
    failedAt = performance.now();
    // SQLSTATE classes 25 and 53 come from a server that otherwise works, and 08 from a coordinator that misses a node (08P01: from PgBouncer).
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
