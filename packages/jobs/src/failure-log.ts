import { errorText, type Logger } from '@chainstead/core';
import { failureLevel, outageOr } from '@chainstead/db';

/** Tells failures that come again and again, such as those of a full disk, at every poll. */
export interface FailureLog {
  tell(error: unknown, message: string): void;
}

const TELL_EVERY_MS = 60_000;
/** Bounds what is remembered of failures whose texts differ each time. */
const KINDS_MAX = 100;

/** One line a minute for each kind of failure, with how often it came. */
export function createFailureLog(queue: string, logger: Logger): FailureLog {
  const kinds = new Map<string, { toldAt: number; untold: number }>();
  return {
    tell(error, message) {
      // Numbers of files, jobs and blocks make no other kind.
      const kind = `${message}: ${errorText(error).replaceAll(/\d+/g, '#')}`;
      const known = kinds.get(kind);
      if (known !== undefined && performance.now() - known.toldAt < TELL_EVERY_MS) {
        known.untold += 1;
        return;
      }
      if (kinds.size >= KINDS_MAX) kinds.clear();
      kinds.set(kind, { toldAt: performance.now(), untold: 0 });
      const level = failureLevel(outageOr(error));
      logger[level]({ queue, err: error, ...(known !== undefined && { repeated: known.untold }) }, message);
    },
  };
}
