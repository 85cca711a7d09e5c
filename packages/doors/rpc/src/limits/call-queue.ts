import type { CallRank, RateLimiter } from './call-limits.ts';

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

export function createCallQueue({
  accept,
  onWaiting,
  overtakes,
}: CallQueueOptions): RateLimiter & { serve(): void } {
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
