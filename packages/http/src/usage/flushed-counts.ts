import { type Clock, errorText, type Logger } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';

/** What was counted since it was last written, and how it is written. */
export interface FlushedCountsOptions<Counts> {
  /** Nothing counted yet. */
  readonly empty: () => Counts;
  /** @param period when the hour or day began that all of it belongs to */
  readonly write: (database: Database, counts: Counts, period: Date) => Promise<void>;
  /** Adds up. */
  readonly add: (to: Counts, from: Counts) => void;
  /** Counts of two such periods are never written together. Milliseconds, from the epoch: hours and days of UTC. */
  readonly periodMs: number;
  /** For the log: `Usage of the API`. */
  readonly what: string;
  readonly database: Database;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now'>;
}

/** Counts in memory that are written every few seconds. */
export interface FlushedCounts<Counts> {
  /** To be counted up at once: after waiting, ask for it again. */
  current(): Counts;
  /** Writes what was counted; what can't be written is kept for the next time. Never rejects. */
  flush(): Promise<void>;
  /** Writes what was counted, for the last time. */
  close(): Promise<void>;
}

const FLUSH_MS = 5_000;

/** One timer, and one write at a time. */
export function createFlushedCounts<Counts>(options: FlushedCountsOptions<Counts>): FlushedCounts<Counts> {
  const { empty, write, add, periodMs, what, database, logger, clock } = options;
  let counts: Counts | null = null;
  let since = clock.now();
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;
  let timer = schedule();

  /** Not across the end of a period: what is counted until then belongs to it. */
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
