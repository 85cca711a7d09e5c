import { errorText, type Logger } from '@chainstead/core';
import { failureLevel, outageOr } from '@chainstead/db';

const REPORT_EVERY_MS = 60_000;
const KINDS_MAX = 100;

/** One line per minute and kind, with the repetitions. */
export function createFailureLog(queue: string, logger: Logger) {
  const kinds = new Map<string, { reportedAt: number; unreported: number }>();
  return {
    report(error: unknown, message: string): void {
      const kind = `${message}: ${errorText(error).replaceAll(/\d+/g, '#')}`;
      const known = kinds.get(kind);
      if (known !== undefined && performance.now() - known.reportedAt < REPORT_EVERY_MS) {
        known.unreported += 1;
        return;
      }
      if (kinds.size >= KINDS_MAX) kinds.clear();
      kinds.set(kind, { reportedAt: performance.now(), unreported: 0 });
      const level = failureLevel(outageOr(error));
      logger[level]({ queue, err: error, ...(known !== undefined && { repeated: known.unreported }) }, message);
    },
  };
}
