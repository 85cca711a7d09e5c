import { type Clock, sleepUnlessAborted } from '@chainstead/core';

interface SweepOptions {
  readonly clock: Clock;
  /** Longest time between two sweeps without work. Milliseconds. */
  readonly sweepEveryMs: number;
  readonly stopping: AbortSignal;
  /** Null: no row is due within `withinMs`. */
  msUntilDue(withinMs: number): Promise<number | null>;
  fill(): Promise<void>;
  isAtWork(): boolean;
  reportFailure(error: unknown): void;
}

/** Time between two sweeps while work is in progress or claims fail. Milliseconds. */
const BUSY_SWEEP_MS = 2_000;

/** Claims due rows without a notification: when the next row is due, and at intervals. */
export function createSweep(options: SweepOptions) {
  const { clock, sweepEveryMs, stopping, fill } = options;
  const busySweepMs = Math.min(BUSY_SWEEP_MS, sweepEveryMs);
  let isBusy = false;
  let rest = new AbortController();

  const restFor = (ms: number) => sleepUnlessAborted(clock, ms, AbortSignal.any([stopping, rest.signal]));

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

  /** Claimed rows and failed claims can change the time of the next due row. */
  function noteWork(): void {
    isBusy = true;
    rest.abort();
  }

  return {
    noteWork,
    /** Never rejects. */
    async run(): Promise<void> {
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
