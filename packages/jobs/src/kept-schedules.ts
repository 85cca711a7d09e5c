import type { Logger } from '@chainstead/core';
import { failureLevel, outageOr } from '@chainstead/db';

/** Schedules that this process looks after while it has the queue open. */
export interface KeptSchedules {
  /** @param restore makes the schedule again if it is gone; called again and again, never twice at once */
  keep(id: string, restore: () => Promise<void>): void;
  /** Looks at all schedules now. */
  lookNow(): void;
  /** Resolves when nothing restores the schedule any more. */
  drop(id: string): Promise<void>;
  /** Ends all looks. One under way is not waited for: the queue may be out of reach. */
  close(): void;
}

export function createKeptSchedules(options: {
  /** The queue's. */
  readonly name: string;
  /** Between two looks at all schedules. Milliseconds. */
  readonly checkMs: number;
  readonly logger: Logger;
  /** While its home is away, a look that fails tells nothing. */
  readonly isUp: () => boolean;
}): KeptSchedules {
  const { name, checkMs, logger } = options;
  const schedules = new Map<string, () => Promise<void>>();
  let looking = Promise.resolve();
  let isLooking = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    isLooking = true;
    for (const [id, restore] of schedules) {
      try {
        await restore();
      } catch (error) {
        // A look that the end of the process interrupts has nothing to tell.
        if (!isClosed && options.isUp())
          logger[failureLevel(outageOr(error))](
            { queue: name, schedule: id, err: error },
            'Schedule could not be looked at',
          );
      }
    }
    isLooking = false;
  }

  function lookNow(): void {
    if (!isLooking && !isClosed) looking = look();
  }

  return {
    lookNow,
    keep(id, restore) {
      schedules.set(id, restore);
      timer ??= setInterval(lookNow, checkMs).unref();
    },
    async drop(id) {
      schedules.delete(id);
      await looking;
    },
    close() {
      isClosed = true;
      schedules.clear();
      clearInterval(timer);
    },
  };
}
