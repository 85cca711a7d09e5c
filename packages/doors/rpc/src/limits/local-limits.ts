import { type Clock, getOrCompute } from '@chainstead/core';
import type { RateLimiter, UpstreamLimits } from './call-limits.ts';
import { createLearnedPaces } from './learned-pace.ts';
import { createTokenBucket } from './limiters.ts';

/** One rate per upstream. Each pool limits its own requests in flight. */
export function createLocalUpstreamLimits(clock: Pick<Clock, 'now'>): UpstreamLimits {
  const paces = new Map<string, RateLimiter>();
  return {
    rateLimiterOf: ({ url, requestsPerSecond: share }) =>
      share === undefined ? null : getOrCompute(paces, url, () => createTokenBucket({ share, clock })),
    concurrencyLimiterOf: () => null,
    learnedPaceOf: createLearnedPaces(clock),
  };
}
