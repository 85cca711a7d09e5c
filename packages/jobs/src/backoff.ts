/** How long to wait after a failed attempt. `attempt` counts from 1; the result is in milliseconds. */
export type Backoff = (attempt: number) => number;

export interface ExponentialBackoffOptions {
  /** After the first attempt. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number;
}

/** Doubles from `baseMs` to `maxMs`, less up to half at random, so that what failed together doesn't come back together. */
export function exponentialBackoff(options: ExponentialBackoffOptions): Backoff {
  const random = options.random ?? Math.random;
  return (attempt) => {
    const full = Math.min(options.maxMs, options.baseMs * 2 ** (attempt - 1));
    return Math.round(full * (1 - random() / 2));
  };
}

/** One delay per attempt, in milliseconds; the last one for every later attempt. */
export function delaySchedule(delaysMs: readonly [number, ...number[]]): Backoff {
  return (attempt) => delaysMs[attempt - 1] ?? delaysMs.at(-1) ?? 0;
}
