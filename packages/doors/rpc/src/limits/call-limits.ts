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

/** Every queue, wait and response has a limit. `Ms`: milliseconds. */
export interface PoolLimits {
  readonly attemptTimeoutMs: number;
  readonly heavyTimeoutMs: number;
  /** Silence before a second upstream is tried. */
  readonly hangMinMs: number;
  /** Rounds lost only to throttling don't count. */
  readonly rounds: number;
  readonly deadlineMs: number;
  readonly backOffBaseMs: number;
  readonly backOffMaxMs: number;
  readonly responseBytesMax: number;
  /** Read in parts, half event data. An ingest process's heap must hold it. */
  readonly blockBytesMax: number;
  /** In flight per upstream, if not configured. */
  readonly concurrency: number;
  /** The same for forwarded calls, in addition. */
  readonly forwardConcurrency: number;
  /** Further forwarded calls are refused. */
  readonly forwardWaitingMax: number;
  readonly streamFromBytes: number;
  readonly streamBytesMax: number;
  readonly batchSizeMax: number;
  readonly logsConcurrency: number;
  /** Keeps memory flat if providers have no cap. */
  readonly logsResponseBytes: number;
  readonly logsBytesInFlight: number;
  readonly logRangeStart: number;
  readonly logRangeStartNarrow: number;
  readonly logRangeMax: number;
  readonly startTimeoutMs: number;
  readonly startGraceMs: number;
  readonly recheckMs: number;
  readonly breakerFailures: number;
  readonly breakerOpenMs: number;
  readonly breakerOpenMaxMs: number;
  readonly unsupportedMs: number;
}

export const DEFAULT_LIMITS: PoolLimits = {
  attemptTimeoutMs: 15_000,
  heavyTimeoutMs: 45_000,
  hangMinMs: 3_000,
  rounds: 4,
  deadlineMs: 60_000,
  backOffBaseMs: 150,
  backOffMaxMs: 5_000,
  responseBytesMax: 64 * 1024 * 1024,
  blockBytesMax: 96 * 1024 * 1024,
  concurrency: 24,
  forwardConcurrency: 64,
  forwardWaitingMax: 20_000,
  streamFromBytes: 1024 * 1024,
  streamBytesMax: 4 * 1024 * 1024 * 1024,
  batchSizeMax: 100,
  logsConcurrency: 16,
  logsResponseBytes: 8 * 1024 * 1024,
  logsBytesInFlight: 64 * 1024 * 1024,
  logRangeStart: 200,
  logRangeStartNarrow: 10_000,
  logRangeMax: 100_000,
  startTimeoutMs: 15_000,
  startGraceMs: 2_000,
  recheckMs: 5_000,
  breakerFailures: 5,
  breakerOpenMs: 1_000,
  breakerOpenMaxMs: 30_000,
  unsupportedMs: 30 * 60_000,
};

const HEAVY = /^(eth_getLogs|eth_getBlockReceipts|debug_|trace_)/;

export function attemptTimeout(method: string, limits: PoolLimits): number {
  return HEAVY.test(method) ? limits.heavyTimeoutMs : limits.attemptTimeoutMs;
}
