import { Counter, Histogram, type Logger, type Registry } from '@chainstead/core';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from './api-context.ts';
import { routePatternOf } from './unmatched.ts';

/** Above this a successful request is logged as slow. Milliseconds. */
const SLOW_MS = 1_000;
/** From a key lookup in memory to a full scan by mistake. Seconds. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Counts and times every request by route pattern, method and status, and logs it: refused ones at `info`, slow ones at
 * `warn`, the others at `debug` (errors of the server are logged where they are answered). Keys never appear: the query is
 * left out, and of the path only the route's pattern is logged.
 */
export function requestObserver(options: {
  readonly logger: Logger;
  readonly metrics: Registry;
}): MiddlewareHandler<ApiEnv> {
  const { logger } = options;
  const registers = [options.metrics];
  const labelNames = ['method', 'route', 'status'] as const;
  const requests = new Counter({
    name: 'chainstead_http_requests_total',
    help: 'Requests answered, by route pattern, method and status',
    labelNames,
    registers,
  });
  const durations = new Histogram({
    name: 'chainstead_http_request_duration_seconds',
    help: 'Time from the request to its answer, by route pattern and method',
    labelNames: ['method', 'route'] as const,
    buckets: DURATION_BUCKETS,
    registers,
  });
  return async (c, next) => {
    const startedAt = performance.now();
    await next();
    const durationMs = performance.now() - startedAt;
    const route = routePatternOf(c);
    const method = route === 'unmatched' ? 'any' : c.req.method;
    const { status } = c.res;
    requests.inc({ method, route, status });
    durations.observe({ method, route }, durationMs / 1_000);
    const level = status >= 400 ? 'info' : durationMs > SLOW_MS ? 'warn' : 'debug';
    if (!logger.isLevelEnabled(level)) return;
    logger[level](
      {
        request_id: c.get('requestId'),
        method: c.req.method,
        route,
        status,
        duration_ms: Math.round(durationMs * 10) / 10,
        key_id: c.get('principal')?.id,
      },
      'Request answered',
    );
  };
}
