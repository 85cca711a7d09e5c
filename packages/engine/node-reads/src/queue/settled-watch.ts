import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';
import { type RequestedQuestion, type Settlement, settledQuestions } from './question-rows.ts';

const POLL_MS = 30;

/** Reads the rows of all waiting requests together. A failed read fails none: they wait on. */
export function createSettledWatch(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
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
      const facts = { error: errorText(error) };
      logger[failureLevel(error)](facts, 'Questions that requests wait for could not be looked at');
    } finally {
      isLooking = false;
    }
  }

  return {
    /** Null without a result within `ms`. */
    async wait(question: RequestedQuestion, ms: number): Promise<Settlement | null> {
      if (ms <= 0) return null;
      const settled = Promise.withResolvers<Settlement>();
      const ended = new AbortController();
      waiting.set(question, settled.resolve);
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
