import { AsyncLocalStorage } from 'node:async_hooks';

const deadlines = new AsyncLocalStorage<number>();

/** Everything that the work waits for shares the time. An inner wait replaces an outer one; 0: the work asks without waiting. */
export function waitingAtMost<T>(ms: number, work: () => T): T {
  return deadlines.run(performance.now() + ms, work);
}

/** Milliseconds; 0 also outside of {@link waitingAtMost}. */
export function waitLeft(): number {
  return Math.max(0, (deadlines.getStore() ?? 0) - performance.now());
}
