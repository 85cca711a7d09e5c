import { type Clock, errorText, type Logger } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';

export interface FlushedCountsOptions<Counts> {
  readonly empty: () => Counts;
  readonly write: (database: Database, counts: Counts, period: Date) => Promise<void>;
  readonly add: (to: Counts, from: Counts) => void;
  /** Counts of two periods are never written together. From the epoch: UTC hours and days. */
  readonly periodMs: number;
  readonly what: string;
  readonly database: Database;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now'>;
}

export interface FlushedCounts<Counts> {
  /** To increment synchronously: after an await, call it again. */
  current(): Counts;
  /** Counts that can't be written stay for the next flush. Never rejects. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const FLUSH_MS = 5_000;

export function createFlushedCounts<Counts>(options: FlushedCountsOptions<Counts>): FlushedCounts<Counts> {
  const { empty, write, add, periodMs, what, database, logger, clock } = options;
  let counts: Counts | null = null;
  let since = clock.now();
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;
  let timer = schedule();

  /** At the end of a period at the latest: counts belong to their period. */
  function schedule(): NodeJS.Timeout {
    const left = periodMs - (clock.now() % periodMs);
    return setTimeout(() => void flush(), Math.min(FLUSH_MS, left)).unref();
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    writing = writing.then(writeCounts).then(() => {
      clearTimeout(timer);
      if (!isClosed) timer = schedule();
    });
    return writing;
  }

  async function writeCounts(): Promise<void> {
    const written = counts;
    const period = new Date(since - (since % periodMs));
    counts = null;
    since = clock.now();
    if (written === null) return;
    try {
      await write(database, written, period);
    } catch (error) {
      logger[failureLevel(error)](
        { error: errorText(error) },
        `${what} could not be written: it is kept for the next time`,
      );
      counts ??= empty();
      add(counts, written);
    }
  }

  return {
    current: () => {
      counts ??= empty();
      return counts;
    },
    flush,
    close: () => {
      isClosed = true;
      return flush();
    },
  };
}
