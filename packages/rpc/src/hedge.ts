import { whenAborted } from '@chainstead/core';
import type { Deadline, Deadlines } from './deadlines.ts';
import { RpcCallError, UpstreamFault } from './errors.ts';
import type { Upstream } from './upstream.ts';

/**
 * Asks one upstream, and a second one when the first takes too long. The first good answer wins and the other is given
 * up or left alone; a verdict on the call ends both. Otherwise the error is that of the first, and `onFault` hears of the other's.
 */
export function hedge<A>(options: {
  readonly first: Upstream;
  readonly ask: (upstream: Upstream, signal: AbortSignal) => Promise<A>;
  /** Milliseconds until the second is asked. */
  readonly delayMs: number;
  readonly chooseSecond: () => Upstream | undefined;
  readonly onFault: (fault: UpstreamFault) => void;
  /** Whether the slower one goes on to its own end, by which it is judged. */
  readonly leavesLoser: boolean;
  /** Whether an answer is still coming in, so that an abort must go on to reach it. */
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

    /** The slower one has ended. An answer that is open still needs the signal where nobody was left alone. */
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
