import { AsyncLocalStorage } from 'node:async_hooks';
import { ServerResponse } from 'node:http';
import type { Database, ReadDatabase, ReadSession, Reads } from '@chainstead/db';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from './api-context.ts';
import { ApiError } from './api-error.ts';
import type { ShownState } from './paging.ts';

/** A database for requests. Cancels what a request runs in it once nobody waits for the answer; outside of requests, like the given one. */
export interface RequestDatabase {
  /**
   * What it is asked is read and written on the primary, and all that the same request reads afterwards is read there, too. What is to be
   * shown on pages is asked by `select`: their cursors count it.
   */
  readonly database: Database;
  /** For what only reads, which standbys may answer. Within a request nothing goes back in time. */
  readonly reads: ReadDatabase;
  /** Of the request at work; null: there are no standbys. */
  readonly shown: ShownState | null;
  /** For all requests, before the one that limits their time. */
  readonly scope: MiddlewareHandler<ApiEnv>;
}

/** The client is gone, or was told already that it took too long: nobody reads this. */
export class RequestAbandonedError extends ApiError {
  constructor() {
    super({
      code: 'REQUEST_ABANDONED',
      status: 503,
      message: 'The client no longer waits for the answer',
      headers: { 'retry-after': '1' },
      retryable: true,
    });
  }
}

/** What one request has of the database. */
interface Access {
  readonly database: Database;
  /** Null: there are no standbys. */
  readonly session: ReadSession | null;
}

/** @param reads null: the database answers all reads, too */
export function createRequestDatabase(database: Database, reads: Reads | null = null): RequestDatabase {
  const requests = new AsyncLocalStorage<Access>();
  const accessTo = (own: Database, signal?: AbortSignal): Access => ({
    database: own,
    session: reads?.session(own, signal) ?? null,
  });
  const access = (): Access => requests.getStore() ?? accessTo(database);
  /** A standby may not have what it says or does yet. */
  const primary = (): Database => {
    const own = access();
    own.session?.stayOnPrimary();
    return own.database;
  };
  const reading = (): ReadDatabase => {
    const own = access();
    return own.session ?? own.database;
  };
  /** What is shown counts for the pages after it, wherever it comes from. */
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
    // The very same, which tells routes that there is no other way to ask.
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
      // After an error, such as too long a time, what still runs is of no use.
      if (c.error !== undefined) abandon();
    },
  };
}

/** Absent where a request comes over no connection. */
function outgoingOf(env: unknown): ServerResponse | undefined {
  if (typeof env !== 'object' || env === null || !('outgoing' in env)) return undefined;
  return env.outgoing instanceof ServerResponse ? env.outgoing : undefined;
}
