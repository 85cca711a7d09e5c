import {
  counter,
  defineMetrics,
  getOrCompute,
  histogram,
  type Logger,
  type Registry,
  type Tally,
} from '@chainstead/core';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../api-context.ts';
import { CLIENT_CLOSED_REQUEST } from '../errors/api-error.ts';
import { routePatternOf } from '../errors/unmatched.ts';

const SLOW_MS = 1_000;

/** Contains no key: only the route pattern, nothing of the query. */
interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly keyId: string | undefined;
  /** Why the response is not available yet. */
  readonly reason?: string | undefined;
}

/** Client errors at `info`, slow requests at `warn`, others at `debug`; no server errors. */
export type RequestLog = (answered: AnsweredRequest) => void;

export function createRequestLog(options: { readonly logger: Logger; readonly metrics: Registry }): RequestLog {
  const { logger } = options;
  const { requests, requestDurationSeconds } = createRequestMetrics(options.metrics);
  const tallies = new Map<string, Tally>();

  return ({ requestId, method, route, status, durationMs, keyId, reason }) => {
    const label = route === 'unmatched' ? 'any' : method;
    const tally = getOrCompute(tallies, `${status} ${label} ${route}`, () =>
      requests.tally({ method: label, route, status: String(status) }),
    );
    tally.value++;
    requestDurationSeconds.observe({ method: label, route }, durationMs / 1_000);
    const level = levelOf(status, durationMs);
    if (!logger.isLevelEnabled(level)) return;
    const duration_ms = Math.round(durationMs * 10) / 10;
    logger[level](
      { request_id: requestId, method, route, status, duration_ms, key_id: keyId, reason },
      'Request answered',
    );
  };
}

function levelOf(status: number, durationMs: number): 'info' | 'warn' | 'debug' {
  if (status === CLIENT_CLOSED_REQUEST) return 'debug';
  if (status >= 400) return 'info';
  return durationMs > SLOW_MS ? 'warn' : 'debug';
}

/** Seconds: from a key lookup in memory to an accidental full scan. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Routed and raw requests share them. */
export const createRequestMetrics = defineMetrics('chainstead_http', {
  requests: counter('Number of HTTP requests by route pattern, method and response status', [
    'method',
    'route',
    'status',
  ]),
  requestDurationSeconds: histogram(
    'Time from receiving a request to sending its response, by route pattern and method',
    DURATION_BUCKETS,
    ['method', 'route'],
  ),
});

export function requestObserver(options: Parameters<typeof createRequestLog>[0]): MiddlewareHandler<ApiEnv> {
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
      reason: c.get('reason'),
    });
  };
}
