import { type Clock, sleepUnlessAborted } from '@chainstead/core';

interface SweepOptions {
  readonly clock: Clock;
  readonly sweepEveryMs: number;
  readonly stopping: AbortSignal;
  /** Null: none within `withinMs`. */
  msUntilDue(withinMs: number): Promise<number | null>;
  fill(): Promise<void>;
  isAtWork(): boolean;
  reportFailure(error: unknown): void;
}

const BUSY_SWEEP_MS = 2_000;

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
    if (!isBusy) await restFor(busySweepMs);
  }

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
