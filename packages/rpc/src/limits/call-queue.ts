import type { RateLimiter } from './call-limits.ts';

/** Prevents starvation of historical blocks: after this many urgent calls in a row, one that is not urgent goes. */
const URGENT_IN_A_ROW = 3;

interface Waiting {
  readonly calls: number;
  go(): void;
}

interface CallQueueOptions {
  /** Takes calls off the current allowance. @returns false if it is too small */
  accept(calls: number, isUrgent: boolean): boolean;
  /** Called with the next calls each time they have to wait. */
  onWaiting(calls: number): void;
  /** Whether other calls may go while the next ones wait. */
  readonly overtakes: boolean;
}

/** A queue of calls in serving order. Call `serve` when the allowance grows. */
export function createCallQueue({ accept, onWaiting, overtakes }: CallQueueOptions): RateLimiter & { serve(): void } {
  const urgent: Waiting[] = [];
  const normal: Waiting[] = [];
  let urgentInARow = 0;
  let waiting = 0;

  /** Queues to serve next, in order of preference. */
  function candidates(): Waiting[][] {
    const order = urgentInARow < URGENT_IN_A_ROW ? [urgent, normal] : [normal, urgent];
    const filled = order.filter(({ length }) => length > 0);
    return overtakes ? filled : filled.slice(0, 1);
  }

  function serve(): void {
    for (;;) {
      const queue = candidates().find((filled) => accept(filled[0]?.calls ?? 0, filled === urgent));
      const first = queue?.shift();
      if (first === undefined) break;
      urgentInARow = queue === urgent ? urgentInARow + 1 : 0;
      waiting -= first.calls;
      first.go();
    }
    const next = candidates()[0]?.[0];
    if (next !== undefined) onWaiting(next.calls);
  }

  return {
    serve,
    get waiting() {
      return waiting;
    },
    take(calls, { urgent: isUrgent = false, signal }) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (waiting === 0 && accept(calls, isUrgent)) return null;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const queue = isUrgent ? urgent : normal;
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
