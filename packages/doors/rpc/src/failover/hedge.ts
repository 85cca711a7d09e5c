import { whenAborted } from '@chainstead/core';
import { RpcCallError, UpstreamFault } from '../errors.ts';
import type { Deadline, Deadlines } from '../transport/deadlines.ts';
import type { Upstream } from '../upstream/upstream.ts';

/** First response or verdict wins. If both fail, the first is thrown; `onFault` gets the second. */
export function hedge<A>(options: {
  readonly first: Upstream;
  readonly ask: (upstream: Upstream, signal: AbortSignal) => Promise<A>;
  readonly delayMs: number;
  readonly chooseSecond: () => Upstream | undefined;
  readonly onFault: (fault: UpstreamFault) => void;
  /** The slower call may finish, for its latency and outcome. */
  readonly leavesLoser: boolean;
  readonly isOpen: (answer: A) => boolean;
  readonly signal: AbortSignal | undefined;
  readonly deadlines: Deadlines;
}): Promise<A> {
  const { ask, onFault, isOpen, signal, deadlines } = options;
  return new Promise((resolve, reject) => {
    const ends: AbortController[] = [];
    const errors: unknown[] = [];
    let running = 0;
    let isSettled = false;

    const late: Deadline = {
      at: performance.now() + options.delayMs,
      place: -1,
      passed() {
        const second = options.chooseSecond();
        if (second !== undefined) begin(second);
      },
    };

    function begin(upstream: Upstream): void {
      const place = ends.length;
      const end = new AbortController();
      ends.push(end);
      running++;
      ask(upstream, end.signal).then(
        (answer) => {
          running--;
          if (isSettled) return afterwards();
          settle(place);
          if (!isOpen(answer)) forgetSignal();
          resolve(answer);
        },
        (error: unknown) => {
          running--;
          if (isSettled) return afterwards();
          errors[place] = error;
          const isVerdict = error instanceof RpcCallError && !error.disputable;
          if (running > 0 && !isVerdict) return;
          settle(place);
          forgetSignal();
          const [first, second] = isVerdict ? [error] : errors;
          if (second instanceof UpstreamFault) onFault(second);
          reject(first);
        },
      );
    }

    function forgetSignal(): void {
      if (running === 0 || !options.leavesLoser) endWaiting();
    }

    function afterwards(): void {
      if (options.leavesLoser) forgetSignal();
    }

    function settle(winner: number): void {
      isSettled = true;
      deadlines.delete(late);
      if (options.leavesLoser) return;
      ends.forEach((end, place) => {
        if (place !== winner) end.abort();
      });
    }

    const endWaiting = whenAborted(signal, () => {
      for (const end of ends) end.abort(signal?.reason);
    });
    deadlines.add(late);
    begin(options.first);
  });
}
