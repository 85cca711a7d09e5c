import { type Database, sql } from '@chainstead/db';

export interface AttemptCount {
  /** Unix seconds of the minute's start. */
  readonly minute: number;
  readonly delivered: number;
  readonly failed: number;
}

/** A stream of a fast chain has hundreds of thousands a day. */
const ATTEMPTS_MAX = 20_000;

/** Attempts of a stream by minute, oldest first: the newest {@link ATTEMPTS_MAX} after `since`. */
export async function countAttempts(
  database: Database,
  streamId: string,
  since: Date,
): Promise<readonly AttemptCount[]> {
  return database.select<AttemptCount>(
    sql`SELECT floor(extract(epoch FROM created_at) / 60)::float8 * 60 AS minute,
       count(*) FILTER (WHERE success)::int AS delivered, count(*) FILTER (WHERE NOT success)::int AS failed
     FROM (SELECT created_at, success FROM stream_attempts WHERE stream_id = ${streamId}::uuid AND created_at >= ${since}
       ORDER BY created_at DESC, id DESC LIMIT ${ATTEMPTS_MAX}) AS newest
     GROUP BY minute ORDER BY minute`,
  );
}
