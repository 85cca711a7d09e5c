import type { UpstreamConfig } from '../upstream-pool.ts';

export type CallRank = 'head' | 'follow' | 'history';

interface WaitOptions {
  /** @default 'history' */
  readonly rank?: CallRank | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RateLimiter {
  /** Null if the calls may go now, else a promise until they may. @throws the signal's reason */
  take(calls: number, options: WaitOptions): Promise<void> | null;
  readonly waiting: number;
}

/** In flight to one upstream; each call counts until `leave`. */
export interface ConcurrencyLimiter extends RateLimiter {
  leave(): void;
}

export interface LearnedPace extends RateLimiter {
  /** Null: none learned. */
  readonly perSecond: number | null;
  /** Calls of a request that leave room for the head; null: any. */
  readonly batchMax: number | null;
  accepted(calls: number): void;
  refused(calls: number): void;
}

/** Set by an operator; null if unset. Pools of the same upstream share them. */
export interface UpstreamLimits {
  rateLimiterOf(upstream: Pick<UpstreamConfig, 'url' | 'requestsPerSecond'>): RateLimiter | null;
  /** Also null if each pool limits itself. */
  concurrencyLimiterOf(upstream: Pick<UpstreamConfig, 'url' | 'concurrency'>): ConcurrencyLimiter | null;
  learnedPaceOf(upstream: Pick<UpstreamConfig, 'url'>): LearnedPace;
}
