import { AsyncLocalStorage } from 'node:async_hooks';
import { ServerResponse } from 'node:http';
import type { Database } from '@chainstead/db';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from './api-context.ts';
import { ApiError } from './api-error.ts';

/** A database for requests. */
export interface RequestDatabase {
  /** Cancels what a request runs in it once nobody waits for the answer; outside of requests, like the given one. */
  readonly database: Database;
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

export function createRequestDatabase(database: Database): RequestDatabase {
  const requests = new AsyncLocalStorage<Database>();
  const ofRequest = (): Database => requests.getStore() ?? database;
  return {
    database: {
      ...database,
      query: (text, values) => ofRequest().query(text, values),
      transaction: (work) => ofRequest().transaction(work),
    },
    scope: async (c, next) => {
      const abandoned = new AbortController();
      const abandon = (): void => abandoned.abort(new RequestAbandonedError());
      const outgoing = outgoingOf(c.env);
      outgoing?.once('close', abandon);
      await requests.run(database.until(abandoned.signal, 'cancel'), next);
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
