import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';
import { type RequestedQuestion, type Settlement, settledQuestions } from './question-rows.ts';

/** Waits for questions that a worker is at. */
export interface SettledWatch {
  /** What became of it; null where nothing did within `ms`. */
  wait(question: RequestedQuestion, ms: number): Promise<Settlement | null>;
}

/** How often rows are read while a request waits. Milliseconds. */
const POLL_MS = 30;

/**
 * One read of the rows of all waiting requests together; none without a waiting request. A failed read fails no
 * request: the requests continue when their time is over.
 */
export function createSettledWatch(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}): SettledWatch {
  const { database, clock, logger } = options;
  const waiting = new Map<RequestedQuestion, (settlement: Settlement) => void>();
  let isLooking = false;

  async function look(): Promise<void> {
    isLooking = true;
    try {
      while (waiting.size > 0) {
        await clock.sleep(POLL_MS);
        const settled = await settledQuestions(database, [...waiting.keys()]);
        for (const [question, settlement] of settled) waiting.get(question)?.(settlement);
      }
    } catch (error) {
      logger[failureLevel(error)](
        { error: errorText(error) },
        'Questions that requests wait for could not be looked at',
      );
    } finally {
      isLooking = false;
    }
  }

  return {
    async wait(question, ms) {
      if (ms <= 0) return null;
      const settled = Promise.withResolvers<Settlement>();
      const ended = new AbortController();
      waiting.set(question, settled.resolve);
      // A failed look leaves its requests to their time; the next request looks again.
      if (!isLooking) void look();
      try {
        const late = sleepUnlessAborted(clock, ms, ended.signal).then(() => null);
        return await Promise.race([settled.promise, late]);
      } finally {
        ended.abort();
        waiting.delete(question);
      }
    },
  };
}
