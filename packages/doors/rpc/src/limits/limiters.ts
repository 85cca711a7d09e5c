import type { Clock } from '@chainstead/core';
import type { CallRank, ConcurrencyLimiter, RateLimiter } from './call-limits.ts';

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

const PRIORITY: Readonly<Record<CallRank, number>> = { history: 0, follow: 1, head: 2 };
const OTHERS_IN_A_ROW = 3;

export function rankPriority(rank: CallRank = 'history'): number {
  return PRIORITY[rank];
}

type Waiting = { readonly calls: number; go(): void };

interface CallQueueOptions {
  /** @returns false if the allowance is too small */
  accept(calls: number, rank: CallRank): boolean;
  onWaiting(calls: number): void;
  readonly overtakes: boolean;
}

function createCallQueue({ accept, onWaiting, overtakes }: CallQueueOptions): RateLimiter & { serve(): void } {
  const head: Waiting[] = [];
  const follow: Waiting[] = [];
  const history: Waiting[] = [];
  const queues = { head, follow, history };
  let othersInARow = 0;
  /** At a low rate, polls of the head could take every call. */
  let wasHead = false;
  let waiting = 0;

  function candidates(): CallRank[] {
    const urgent: CallRank[] = wasHead ? ['follow', 'head'] : ['head', 'follow'];
    const order: CallRank[] = othersInARow < OTHERS_IN_A_ROW ? [...urgent, 'history'] : ['history', ...urgent];
    const filled = order.filter((rank) => queues[rank].length > 0);
    return overtakes ? filled : filled.slice(0, 1);
  }

  function serve(): void {
    for (;;) {
      const rank = candidates().find((filled) => accept(queues[filled][0]?.calls ?? 0, filled));
      const first = rank === undefined ? undefined : queues[rank].shift();
      if (first === undefined) break;
      othersInARow = rank === 'history' ? 0 : othersInARow + 1;
      wasHead = rank === 'head';
      waiting -= first.calls;
      first.go();
    }
    const next = candidates()[0];
    if (next !== undefined) onWaiting(queues[next][0]?.calls ?? 0);
  }

  return {
    serve,
    get waiting() {
      return waiting;
    },
    take(calls, { rank = 'history', signal }) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (waiting === 0 && accept(calls, rank)) return null;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const queue = queues[rank];
      const onAbort = (): void => {
        queue.splice(queue.indexOf(entry), 1);
        waiting -= calls;
        reject(signal?.reason);
        serve();
      };
      const entry: Waiting = {
        calls,
        go() {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      queue.push(entry);
      waiting += calls;
      serve();
      return promise;
    },
  };
}

export type Demand = { readonly group: string; readonly wanted: number };

/** A unit each, equal shares by group up to the demand, then equal shares of the rest. */
export function splitLimit(units: number, demands: readonly Demand[]): number[] {
  const shares = demands.map(() => 0);
  const hungry = demands.filter(({ wanted }) => wanted > 0);
  const wanting = Map.groupBy(hungry, ({ group }) => group);
  const weights = demands.map(({ group }) => wanting.get(group)?.length ?? 1);
  let left = units;

  function give(most: (demand: Demand) => number): void {
    for (; left > 0; left -= 1) {
      let [least, poorest] = [Number.POSITIVE_INFINITY, -1];
      for (const [index, demand] of demands.entries()) {
        const share = shares[index] ?? 0;
        const weighed = share === 0 ? 0 : (share + 1) * (weights[index] ?? 1);
        if (share < most(demand) && weighed < least) [least, poorest] = [weighed, index];
      }
      if (poorest < 0) return;
      shares[poorest] = (shares[poorest] ?? 0) + 1;
    }
  }

  give(({ wanted }) => (units < demands.length ? Math.min(1, wanted) : 1));
  give(({ wanted }) => wanted);
  give(() => units);
  return shares;
}
