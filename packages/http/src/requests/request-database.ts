import { AsyncLocalStorage } from 'node:async_hooks';
import { ServerResponse } from 'node:http';
import type { Database, ReadDatabase, ReadSession, Reads } from '@chainstead/db';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../api-context.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ShownState } from '../parameters/paging.ts';

/**
 * A database that cancels a request's statements when its client stops waiting; without a request, a plain database.
 */
export interface RequestDatabase {
  /**
   * Uses the primary, also for later reads of the same request. Rows shown on pages need `select`, which records the
   * state for cursors.
   */
  readonly database: Database;
  /** For reads only; standbys may serve them. Within a request, reads never go back in time. */
  readonly reads: ReadDatabase;
  /** State of the current request; null: no standbys. */
  readonly shown: ShownState | null;
  /** Middleware for all requests; register it before the request timeout. */
  readonly scope: MiddlewareHandler<ApiEnv>;
}

/** The client disconnected or already got a timeout: the response is never read. */
export class RequestAbandonedError extends ApiError {
  constructor() {
    super({
      code: 'REQUEST_ABANDONED',
      status: 503,
      message: 'The client closed the connection before the response',
      headers: { 'retry-after': '1' },
      retryable: true,
    });
  }
}

/** Database access of one request. */
interface Access {
  readonly database: Database;
  /** Null: no standbys. */
  readonly session: ReadSession | null;
}

/** @param reads null: the database also serves all reads */
export function createRequestDatabase(database: Database, reads: Reads | null = null): RequestDatabase {
  const requests = new AsyncLocalStorage<Access>();
  const accessTo = (own: Database, signal?: AbortSignal): Access => ({
    database: own,
    session: reads?.session(own, signal) ?? null,
  });
  const access = (): Access => requests.getStore() ?? accessTo(database);
  /** A standby may not have this statement's changes yet. */
  const primary = (): Database => {
    const own = access();
    own.session?.stayOnPrimary();
    return own.database;
  };
  const reading = (): ReadDatabase => {
    const own = access();
    return own.session ?? own.database;
  };
  /** Rows shown to the client count for later pages, whichever server provides them. */
  const readingPrimary = (): ReadDatabase => {
    const own = access();
    own.session?.stayOnPrimary();
    return own.session ?? own.database;
  };
  const ofRequest: Database = {
    ...database,
    query: (text, values) => primary().query(text, values),
    select: (text, values) => readingPrimary().select(text, values),
    selectLasting: (text, values) => readingPrimary().selectLasting(text, values),
    transaction: (work) => primary().transaction(work),
  };
  return {
    database: ofRequest,
    // The same object: routes see by it that reads have no other server.
    reads:
      reads === null
        ? ofRequest
        : {
            select: (text, values) => reading().select(text, values),
            selectLasting: (text, values) => reading().selectLasting(text, values),
          },
    shown:
      reads === null
        ? null
        : {
            position: () => access().session?.position ?? null,
            requireAtLeast: (position) => access().session?.requireAtLeast(position),
          },
    scope: async (c, next) => {
      const abandoned = new AbortController();
      const abandon = (): void => abandoned.abort(new RequestAbandonedError());
      const outgoing = outgoingOf(c.env);
      outgoing?.once('close', abandon);
      await requests.run(accessTo(database.until(abandoned.signal, 'cancel'), abandoned.signal), next);
      outgoing?.off('close', abandon);
      // After an error, such as a timeout, running statements are useless.
      if (c.error !== undefined) abandon();
    },
  };
}

/** Undefined if the request has no connection. */
function outgoingOf(env: unknown): ServerResponse | undefined {
  if (typeof env !== 'object' || env === null || !('outgoing' in env)) return undefined;
  return env.outgoing instanceof ServerResponse ? env.outgoing : undefined;
}
