import { type Clock, errorText, type Logger, restartDelayMs, sleepUnlessAborted } from '@chainstead/core';
import { isOutage } from '@chainstead/db';

export interface WaitOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the waiting: what failed last is thrown. */
  readonly signal: AbortSignal;
  /** Whether the first failure is told at once all the same. */
  isFinal?(error: unknown): boolean;
}

/** A server that restarts, or a standby that takes over, needs less. Milliseconds. */
const WAIT_MAX_MS = 60_000;

/**
 * Does a step of the start again while the database is away for a moment: it restarts, or another server takes over. Steps can be done again after
 * they failed half way. @throws what the step throws, an outage once it has lasted a minute
 */
export async function onceDatabaseAnswers<T>(step: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { clock, logger, signal, isFinal } = options;
  const ends = clock.now() + WAIT_MAX_MS;
  for (let failures = 1; ; failures++) {
    try {
      return await step();
    } catch (error) {
      const delayMs = restartDelayMs(failures);
      const isOver = signal.aborted || clock.now() + delayMs > ends || (failures === 1 && isFinal?.(error) === true);
      if (isOver || !isOutage(error)) throw error;
      logger.warn({ error: errorText(error), delay_ms: delayMs }, 'The database is away, the start waits for it');
      await sleepUnlessAborted(clock, delayMs, signal);
    }
  }
}
