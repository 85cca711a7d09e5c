import type { Clock, Logger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';

export interface DatabaseClockOptions {
  readonly database: Pick<Database, 'query'>;
  /** The local clock. */
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The database time without a query per read. Machine clocks differ; due times need one clock for all processes. */
export interface DatabaseClock {
  /** Milliseconds since the Unix epoch; the local time until the first measurement. */
  now(): number;
  /** Queries the database. Throws the query's errors. */
  measure(): Promise<void>;
}

/** Larger offsets are logged; smaller ones have no visible effect. Milliseconds. */
const REPORTED_OFFSET_MS = 5_000;

export function createDatabaseClock({ database, clock, logger }: DatabaseClockOptions): DatabaseClock {
  let offsetMs = 0;
  return {
    now: () => clock.now() + offsetMs,
    async measure() {
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
