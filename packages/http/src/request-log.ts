import type { Logger, Registry, Tally } from '@chainstead/core';
import { CLIENT_CLOSED_REQUEST } from './api-error.ts';
import { createRequestMetrics } from './request-metrics.ts';

/** Above this a successful request is logged as slow. Milliseconds. */
const SLOW_MS = 1_000;

/** One request that was answered. Holds no key: of the path only the route's pattern, of the query nothing. */
export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** Pattern, such as `/api/v2.2/:address/erc20/transfers`; `unmatched` without one. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** Principal's id. */
  readonly keyId: string | undefined;
}

/**
 * Counts and times an answered request by route pattern, method and status, and logs it: refused ones at `info`, slow ones
 * at `warn`, the others, and those whose client went away, at `debug` (errors of the server are logged where they are answered).
 */
export type RequestLog = (answered: AnsweredRequest) => void;

export function createRequestLog(options: { readonly logger: Logger; readonly metrics: Registry }): RequestLog {
  const { logger } = options;
  const { requests, durations } = createRequestMetrics(options.metrics);
  const tallies = new Map<string, Tally>();

  function tallyOf(method: string, route: string, status: number): Tally {
    const key = `${status} ${method} ${route}`;
    const known = tallies.get(key);
    if (known !== undefined) return known;
    const tally = requests.tally({ method, route, status: String(status) });
    tallies.set(key, tally);
    return tally;
  }

  return ({ requestId, method, route, status, durationMs, keyId }) => {
    const label = route === 'unmatched' ? 'any' : method;
    tallyOf(label, route, status).value++;
    durations.observe({ method: label, route }, durationMs / 1_000);
    const level = levelOf(status, durationMs);
    if (!logger.isLevelEnabled(level)) return;
    logger[level](
      {
        request_id: requestId,
        method,
        route,
        status,
        duration_ms: Math.round(durationMs * 10) / 10,
        key_id: keyId,
      },
      'Request answered',
    );
  };
}

function levelOf(status: number, durationMs: number): 'info' | 'warn' | 'debug' {
  if (status === CLIENT_CLOSED_REQUEST) return 'debug';
  if (status >= 400) return 'info';
  return durationMs > SLOW_MS ? 'warn' : 'debug';
}
