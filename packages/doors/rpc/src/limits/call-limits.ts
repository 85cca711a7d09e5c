import type { UpstreamConfig } from '../upstream-pool.ts';

/** Precedence of a call: the number of the newest block, then blocks near the head, then historical ones. */
export type CallRank = 'head' | 'follow' | 'history';

interface WaitOptions {
  /** @default 'history' */
  readonly rank?: CallRank | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RateLimiter {
  /** Null if the calls may go now, else a promise until they may. @throws the abort reason of the signal */
  take(calls: number, options: WaitOptions): Promise<void> | null;
  readonly waiting: number;
}

/** Limits the requests in flight to one upstream. Each taken call counts as one until `leave`. */
export interface ConcurrencyLimiter extends RateLimiter {
  leave(): void;
}

/** Limits the calls to one upstream to the rate that its refusals taught. Without refusals, no call waits. */
export interface LearnedPace extends RateLimiter {
  /** Calls per second; null: none was learned. */
  readonly perSecond: number | null;
  /** Most calls of one request that leave room for the head; null: any. */
  readonly batchMax: number | null;
  accepted(calls: number): void;
  refused(): void;
}

/** The limits that an operator set for upstreams; null if unset. Pools that call the same upstream share them. */
export interface UpstreamLimits {
  rateLimiterOf(upstream: Pick<UpstreamConfig, 'url' | 'requestsPerSecond'>): RateLimiter | null;
  /** Also null if each pool limits its own requests. */
  concurrencyLimiterOf(upstream: Pick<UpstreamConfig, 'url' | 'concurrency'>): ConcurrencyLimiter | null;
  learnedPaceOf(upstream: Pick<UpstreamConfig, 'url'>): LearnedPace;
}
