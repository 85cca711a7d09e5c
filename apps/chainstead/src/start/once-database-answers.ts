import { type Clock, errorText, type Logger, restartDelayMs, sleepUnlessAborted } from '@chainstead/core';
import { isOutage } from '@chainstead/db';

export interface WaitOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  isFinal?(error: unknown): boolean;
}

const WAIT_MAX_MS = 60_000;

/** Steps must be repeatable. @throws errors of the step; an outage after one minute */
export async function onceDatabaseAnswers<T>(step: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { clock, logger, signal, isFinal } = options;
  const ends = clock.now() + WAIT_MAX_MS;
  for (let failures = 1; ; failures++) {
    try {
      return await step();
    } catch (error) {
      const delayMs = restartDelayMs(failures);
      const isOver =
        signal.aborted || clock.now() + delayMs > ends || (failures === 1 && isFinal?.(error) === true);
      if (isOver || !isOutage(error)) throw error;
      logger.warn({ error: errorText(error), delay_ms: delayMs }, 'Database unavailable, waiting for it');
      await sleepUnlessAborted(clock, delayMs, signal);
    }
  }
}
