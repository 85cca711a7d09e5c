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

/** Node keeps removed listeners of long-lived signals in memory. @returns removes the listener */
export function whenAborted(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => undefined;
  const held: { callback: (() => void) | null } = { callback };
  const listener = (): void => held.callback?.();
  signal.addEventListener('abort', listener, { once: true });
  return () => {
    held.callback = null;
    signal.removeEventListener('abort', listener);
  };
}

/** The work continues after the abort. @throws the signal's reason */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // The caller gets the reason of the signal, not a later failure of the work.
    work.catch(() => undefined);
    throw signal.reason;
  }
  const aborted = Promise.withResolvers<never>();
  const end = whenAborted(signal, () => aborted.reject(signal.reason));
  return Promise.race([work, aborted.promise]).finally(end);
}

/** The work continues if it is late. @param onLate may throw instead. @throws the work's rejection in time */
export async function within<T, Late>(
  timeoutMs: number,
  work: Promise<T>,
  onLate: () => Late,
): Promise<T | Late> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, timeoutMs);
  try {
    return await Promise.race([work, late.promise.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}

/** For work whose result is of no use later. @throws Error if it is late */
export function answerWithin<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return within(timeoutMs, work, () => {
    throw new Error(`no answer within ${timeoutMs} ms`);
  });
}

/** False: too late, and the work continues. @throws the work's rejection in time */
export function settlesWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return within(
    timeoutMs,
    work.then(() => true),
    () => false,
  );
}

/** Waiting callers share a failure; the next one tries again. */
export function knownFor<Value>(
  milliseconds: number,
  clock: Pick<Clock, 'now'>,
  read: () => Promise<Value>,
): () => Promise<Value> {
  let known: { readonly value: Promise<Value>; readonly until: number } | null = null;
  return () => {
    if (known !== null && clock.now() < known.until) return known.value;
    const requested = { value: read(), until: clock.now() + milliseconds };
    known = requested;
    requested.value.catch(() => {
      if (known === requested) known = null;
    });
    return requested.value;
  };
}

const FIRST_DELAY_MS = 500;
const DELAY_MS_MAX = 30_000;
/** After a run this long, the next crash counts as the first one. */
export const WELL_AFTER_MS = 60_000;

/** From 1 crash: 500, 1000, 2000, … 30000. */
export function restartDelayMs(crashesInARow: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** Math.max(0, crashesInARow - 1), DELAY_MS_MAX);
}
