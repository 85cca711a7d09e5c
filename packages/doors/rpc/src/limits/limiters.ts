import type { Clock } from '@chainstead/core';
import type { ConcurrencyLimiter, RateLimiter } from './call-limits.ts';
import { createCallQueue } from './call-queue.ts';

export interface Limiter {
  setShare(share: number): void;
  /** The share, or more while requests above a reduced share are in flight. */
  held(): number;
  wanted(): number;
  /** Each second; its calls are the next one's minimum demand. */
  endPeriod?(): void;
}

interface LimiterOptions {
  readonly share: number;
  onChange?(): void;
}

const RESERVING_SHARE = 4;
/** Not for historical calls: slow streams must not delay heads. */
const RESERVED_PART = 1 / 8;
const TIMER_MS_MAX = 1_000;

/** At least one token. A larger batch goes when full, and leaves a debt. */
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
    // Fewer calls would take a larger batch's tokens.
    overtakes: false,
    accept(calls) {
      if (missing(calls) > 1e-9) return false;
      tokens -= calls;
      gone += calls;
      return true;
    },
    onWaiting(calls) {
      clearTimeout(timer);
      const ms = Math.min(TIMER_MS_MAX, Math.ceil((Math.max(0, missing(calls)) / share) * 1_000));
      // Not unref'd: a command with only a waiting call would end silently.
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
      // One at most: a restarting process must not begin with a burst.
      if (share === 0) tokens = 1;
      share = value;
      queue.serve();
    },
  });
}

/** From four slots, an eighth is not for historical calls, unless `reserves` is false. */
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
