import type { Clock, Logger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';

const REPORTED_OFFSET_MS = 5_000;

/** Database time without a query per read: due times need one clock for all processes. */
export function createDatabaseClock(options: {
  database: Pick<Database, 'query'>;
  clock: Clock;
  logger: Logger;
}) {
  const { database, clock, logger } = options;
  let offsetMs = 0;
  return {
    /** Milliseconds since the Unix epoch; local time until the first measurement. */
    now: (): number => clock.now() + offsetMs,
    async measure(): Promise<void> {
      const requested = clock.now();
      const [row] = await database.query<{ now: number }>(
        sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
      );
      if (row === undefined) return;
      const measured = Math.round(row.now - (requested + clock.now()) / 2);
      if (Math.abs(measured) >= REPORTED_OFFSET_MS && Math.abs(measured - offsetMs) >= REPORTED_OFFSET_MS)
        logger.warn(
          { behind_ms: measured },
          "This machine's clock differs from the database's, which is the one that counts: set it by NTP",
        );
      offsetMs = measured;
    },
  };
}
