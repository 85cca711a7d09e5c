import type { UpstreamConfig } from '../upstream-pool.ts';

/** How calls wait. */
interface WaitOptions {
  /** Goes ahead of calls that are not: heads before history. */
  readonly urgent?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Bounds the calls a second to one upstream. */
export interface CallPace {
  /** Null if the calls may go immediately; else a promise that resolves when they may. @throws the abort reason of the signal */
  take(calls: number, options: WaitOptions): Promise<void> | null;
  /** Calls that wait in this process. */
  readonly waiting: number;
}

/** Bounds the requests in flight to one upstream: each call that is taken is one, until `leave`. */
export interface CallSlots extends CallPace {
  leave(): void;
}

/** The limits that an operator set for upstreams; null if there is none. Pools that call the same upstream have the same. */
export interface CallLimits {
  paceOf(upstream: Pick<UpstreamConfig, 'url' | 'requestsPerSecond'>): CallPace | null;
  /** Also null if each pool bounds its own requests. */
  slotsOf(upstream: Pick<UpstreamConfig, 'url' | 'concurrency'>): CallSlots | null;
}
