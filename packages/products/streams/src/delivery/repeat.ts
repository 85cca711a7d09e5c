import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';

export interface RepeatOptions {
  readonly task: string;
  readonly everyMs: () => number;
  readonly work: () => Promise<unknown>;
  /** When it resolves, the next run starts immediately. */
  readonly sooner?: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export async function repeat(options: RepeatOptions, signal: AbortSignal): Promise<void> {
  const { task, everyMs, work, sooner, clock, logger } = options;
  while (!signal.aborted) {
    const woken = sooner?.();
    try {
      await work();
    } catch (error) {
      logger[failureLevel(error)](
        { task, reason: errorText(error) },
        'Work on the outbox failed and will be tried again',
      );
    }
    const waiting = new AbortController();
    const waited = sleepUnlessAborted(clock, everyMs(), AbortSignal.any([signal, waiting.signal]));
    await (woken === undefined ? waited : Promise.race([waited, woken]));
    waiting.abort();
  }
}
