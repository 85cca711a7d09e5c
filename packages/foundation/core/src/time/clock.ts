import { whenAborted } from './when-aborted.ts';

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const timer = setTimeout(() => {
        end();
        resolve();
      }, ms);
      const end = whenAborted(signal, () => {
        clearTimeout(timer);
        reject(signal?.reason);
      });
    }),
};

/** Resolves early when the signal aborts. */
export async function sleepUnlessAborted(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
