import type { Clock } from '@chainstead/core';
import type { ConcurrencyLimiter, RateLimiter } from './call-limits.ts';
import { createCallQueue } from './call-queue.ts';

export interface Limiter {
  setShare(share: number): void;
  /** The most that is in use: the share, or more while requests above a reduced share are in flight. */
  held(): number;
  /** The usable share: requests in flight (or calls of a second) plus waiting calls. */
  wanted(): number;
  /** Called at the end of each second. Its calls are the minimum demand of the next one. */
  endPeriod?(): void;
}

interface LimiterOptions {
  readonly share: number;
  /** Called when calls wait, and when a request above a reduced share has ended. */
  onChange?(): void;
}

/** Slots are reserved for calls that are not historical if the share is at least this. */
const RESERVING_SHARE = 4;
/** The part of a share that historical calls don't use: responses that stream to slow clients must not delay heads. */
const RESERVED_PART = 1 / 8;
/** Longest wait before a bucket checks again, milliseconds. */
const TIMER_MS_MAX = 1_000;

/** Holds the tokens of `burstSeconds`, at least one. A larger batch goes when it is full and leaves a debt. */
export function createTokenBucket(
  options: LimiterOptions & { readonly clock: Pick<Clock, 'now'>; readonly burstSeconds?: number },
): RateLimiter & Limiter {
  const { clock, onChange, burstSeconds = 1 } = options;
  let { share } = options;
  let tokens = share === 0 ? 0 : burst();
  let at = clock.now();
  let timer: NodeJS.Timeout | undefined;
  let gone = 0;
  let goneBefore = 0;

  function burst(): number {
    return Math.max(1, share * burstSeconds);
  }

  function missing(calls: number): number {
    const now = clock.now();
    tokens = Math.min(burst(), tokens + (Math.max(0, now - at) / 1_000) * share);
    at = now;
    return Math.min(calls, burst()) - tokens;
  }

  const queue = createCallQueue({
    // Fewer calls would take the tokens that a larger batch waits for.
    overtakes: false,
    accept(calls) {
      // A sum of fractions may miss a whole number.
      if (missing(calls) > 1e-9) return false;
      tokens -= calls;
      gone += calls;
      return true;
    },
    onWaiting(calls) {
      clearTimeout(timer);
      const ms = Math.min(TIMER_MS_MAX, Math.ceil((Math.max(0, missing(calls)) / share) * 1_000));
      // Not unref'd: a command whose only pending work is a waiting call would end silently.
      if (share > 0) timer = setTimeout(queue.serve, ms);
      onChange?.();
    },
  });

  return Object.assign(queue, {
    held: () => share,
    wanted: () => Math.max(gone, goneBefore) + queue.waiting + Math.max(0, missing(0)),
    endPeriod() {
      goneBefore = gone;
      gone = 0;
    },
    setShare(value: number) {
      missing(0);
      // No more than one: a process that restarts often must not begin with a burst each time.
      if (share === 0) tokens = 1;
      share = value;
      queue.serve();
    },
  });
}

/** For four or more slots, an eighth is reserved for calls that are not historical, unless `reserves` is false. */
export function createCallSlots({
  share: initial,
  reserves = true,
  onChange,
}: LimiterOptions & { readonly reserves?: boolean }): ConcurrencyLimiter & Limiter {
  let share = initial;
  let inFlight = 0;

  const reserved = (): number =>
    reserves && share >= RESERVING_SHARE ? Math.max(1, Math.floor(share * RESERVED_PART)) : 0;

  const queue = createCallQueue({
    overtakes: true,
    accept(calls, rank) {
      if (inFlight + calls > share - (rank === 'history' ? reserved() : 0)) return false;
      inFlight += calls;
      return true;
    },
    onWaiting: () => onChange?.(),
  });

  return Object.assign(queue, {
    leave() {
      const isAbove = inFlight > share;
      inFlight -= 1;
      queue.serve();
      if (isAbove) onChange?.();
    },
    held: () => Math.max(share, inFlight),
    wanted: () => inFlight + (queue.waiting === 0 ? 0 : queue.waiting + reserved()),
    setShare(value: number) {
      share = value;
      queue.serve();
    },
  });
}
