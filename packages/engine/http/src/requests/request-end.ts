import { ServerResponse } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import type { ApiContext, ApiEnv } from '../api-context.ts';
import { defineApiError } from '../errors/api-error.ts';

/** The client disconnected or already got a timeout: the response is never read. */
export class RequestAbandonedError extends defineApiError('REQUEST_ABANDONED', () => ({
  status: 503,
  message: 'The client closed the connection before the response',
  headers: { 'retry-after': '1' },
  retryable: true,
})) {}

/** Undefined: an inner request, without a connection. */
export function outgoingOf(c: Pick<ApiContext, 'env'>): ServerResponse | undefined {
  const env: unknown = c.env;
  const hasConnection = typeof env === 'object' && env !== null && 'outgoing' in env;
  return hasConnection && env.outgoing instanceof ServerResponse ? env.outgoing : undefined;
}

const ABANDONED = new RequestAbandonedError();

/** Sets `ended`, which aborts once the response is sent, has failed, or its client disconnected. */
export function requestEnd(): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const ended = new AbortController();
    const end = (): void => ended.abort(ABANDONED);
    const outgoing = outgoingOf(c);
    outgoing?.once('close', end);
    if (outgoing?.destroyed === true) end();
    c.set('ended', ended.signal);
    try {
      await next();
    } finally {
      // After an error, such as a timeout, running work is useless.
      if (outgoing === undefined || c.error !== undefined) end();
    }
  };
}
