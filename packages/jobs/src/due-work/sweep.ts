import { type Clock, sleepUnlessAborted } from '@chainstead/core';

/** Claims due rows without a notification: when the next row is due, and at intervals. */
export interface Sweep {
  /** Call it when rows were claimed or a claim failed: both can change the time of the next due row. */
  noteWork(): void;
  /** Sweeps until `stopping` aborts. Never rejects. */
  run(): Promise<void>;
}

export interface SweepOptions {
  readonly clock: Clock;
  /** Longest time between two sweeps when no work is in progress. Milliseconds. */
  readonly sweepEveryMs: number;
  readonly stopping: AbortSignal;
  /** Returns the milliseconds until the next row is due; null: none is within `withinMs`. */
  msUntilDue(withinMs: number): Promise<number | null>;
  /** Claims due rows. Never rejects. */
  fill(): Promise<void>;
  isAtWork(): boolean;
  reportFailure(error: unknown): void;
}

/** Time between two sweeps while work is in progress or claims fail. Milliseconds. */
const BUSY_SWEEP_MS = 2_000;

export function createSweep(options: SweepOptions): Sweep {
  const { clock, sweepEveryMs, stopping, fill } = options;
  const busySweepMs = Math.min(BUSY_SWEEP_MS, sweepEveryMs);
  let isBusy = false;
  let rest = new AbortController();

  async function restFor(ms: number): Promise<void> {
    await sleepUnlessAborted(clock, ms, AbortSignal.any([stopping, rest.signal]));
  }

  async function sweep(): Promise<void> {
    rest = new AbortController();
    if (isBusy) {
      isBusy = options.isAtWork();
      await sleepUnlessAborted(clock, busySweepMs, stopping);
      return fill();
    }
    const ms = await options.msUntilDue(sweepEveryMs);
    if (ms === null || ms > 0) return restFor(ms ?? sweepEveryMs);
    await fill();
    // Another process holds the row.
    if (!isBusy) await restFor(busySweepMs);
  }

  function noteWork(): void {
    isBusy = true;
    rest.abort();
  }

  return {
    noteWork,
    async run() {
      await fill();
      while (!stopping.aborted)
        try {
          await sweep();
        } catch (error) {
          noteWork();
          options.reportFailure(error);
        }
    },
  };
}
