import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';

interface SettledWatchOptions<Requested, Settlement> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Those that are settled. */
  read(requested: readonly Requested[]): Promise<ReadonlyMap<Requested, Settlement>>;
}

const POLL_MS = 30;

/** Reads the rows of all waiting requests together. A failed read fails none: they wait on. */
export function createSettledWatch<Requested extends object, Settlement>({
  clock,
  logger,
  read,
}: SettledWatchOptions<Requested, Settlement>) {
  const waiting = new Map<Requested, (settlement: Settlement) => void>();
  let isLooking = false;

  async function look(): Promise<void> {
    isLooking = true;
    try {
      while (waiting.size > 0) {
        await clock.sleep(POLL_MS);
        for (const [requested, settlement] of await read([...waiting.keys()]))
          waiting.get(requested)?.(settlement);
      }
    } catch (error) {
      logger[failureLevel(error)](
        { error: errorText(error) },
        'Rows that requests wait for could not be looked at',
      );
    } finally {
      isLooking = false;
    }
  }

  /** Null if it is not settled within `ms`. */
  return async (requested: Requested, ms: number): Promise<Settlement | null> => {
    if (ms <= 0) return null;
    const settled = Promise.withResolvers<Settlement>();
    const ended = new AbortController();
    waiting.set(requested, settled.resolve);
    if (!isLooking) void look();
    try {
      const late = sleepUnlessAborted(clock, ms, ended.signal).then(() => null);
      return await Promise.race([settled.promise, late]);
    } finally {
      ended.abort();
      waiting.delete(requested);
    }
  };
}
