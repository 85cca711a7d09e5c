import type { Logger, Registry } from '@chainstead/core';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../api-context.ts';
import { routePatternOf } from '../errors/unmatched.ts';
import { createRequestLog } from './request-log.ts';

/** Counts, times and logs every request handled by the router. Keys never appear. */
export function requestObserver(options: {
  readonly logger: Logger;
  readonly metrics: Registry;
}): MiddlewareHandler<ApiEnv> {
  const log = createRequestLog(options);
  return async (c, next) => {
    const startedAt = performance.now();
    await next();
    log({
      requestId: c.get('requestId'),
      method: c.req.method,
      route: routePatternOf(c),
      status: c.res.status,
      durationMs: performance.now() - startedAt,
      keyId: c.get('principal')?.id,
    });
  };
}
