import type { Clock } from '@chainstead/core';
import type { RateLimiter, UpstreamLimits } from './call-limits.ts';
import { createLearnedPaces } from './learned-pace.ts';
import { createTokenBucket } from './limiters.ts';

/** One rate per upstream. Each pool limits its own requests in flight. */
export function createLocalUpstreamLimits(clock: Pick<Clock, 'now'>): UpstreamLimits {
  const paces = new Map<string, RateLimiter>();
  return {
    rateLimiterOf({ url, requestsPerSecond }) {
      if (requestsPerSecond === undefined) return null;
      const pace = paces.get(url) ?? createTokenBucket({ share: requestsPerSecond, clock });
      paces.set(url, pace);
      return pace;
    },
    concurrencyLimiterOf: () => null,
    learnedPaceOf: createLearnedPaces(clock),
  };
}
