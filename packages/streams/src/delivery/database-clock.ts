import type { Clock, Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';

export interface DatabaseClockOptions {
  readonly database: Pick<Database, 'query'>;
  /** This machine's. */
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The database's time, told without asking it each time. Machines' clocks differ; what is due, and when something happened, is a
 * matter of one clock for all of them.
 */
export interface DatabaseClock {
  /** Milliseconds since the Unix epoch; this machine's own until it was measured. */
  now(): number;
  /** Asks the database. Throws what the query does. */
  measure(): Promise<void>;
}

/** What is told of; less than this, nobody notices. Milliseconds. */
const TOLD_OFFSET_MS = 5_000;

export function createDatabaseClock({ database, clock, logger }: DatabaseClockOptions): DatabaseClock {
  let offsetMs = 0;
  return {
    now: () => clock.now() + offsetMs,
    async measure() {
      const asked = clock.now();
      const [row] = await database.query<{ now: number }>(
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
      );
      if (row === undefined) return;
      const measured = Math.round(row.now - (asked + clock.now()) / 2);
      if (Math.abs(measured) >= TOLD_OFFSET_MS && Math.abs(measured - offsetMs) >= TOLD_OFFSET_MS)
        logger.warn(
          { behind_ms: measured },
          "This machine's clock differs from the database's, which is the one that counts: set it by NTP",
        );
      offsetMs = measured;
    },
  };
}
