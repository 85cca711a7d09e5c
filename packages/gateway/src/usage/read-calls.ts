import { latencyPercentile } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { CALL_TIME_BOUNDS } from './call-times.ts';

/** What all keys called of one method of one chain over some hours. */
export interface MethodCalls {
  readonly chainId: number;
  readonly method: string;
  readonly calls: number;
  /** Of them, answered with an error. */
  readonly errors: number;
  /** Of them, answered without an upstream. */
  readonly cached: number;
  /** What half, and 95 %, of those that were not cached took at most; null where there are none. Milliseconds. */
  readonly half: number | null;
  readonly most: number | null;
}

/** Of one hour. */
export interface HourCalls {
  /** When it began. */
  readonly hour: Date;
  readonly calls: number;
  readonly errors: number;
  readonly cached: number;
}

export interface CallsAsked {
  /** Back from now, the hour that runs included; 168 at most are kept. */
  readonly hours: number;
  /** Absent: all of them. */
  readonly chainId?: number | undefined;
}

const OF_ASKED = `hour > date_trunc('hour', now()) - make_interval(hours => $1) AND ($2::bigint IS NULL OR chain_id = $2)`;

/** By chain and method, the most called first. */
export async function readMethodCalls(
  database: Pick<Database, 'query'>,
  { hours, chainId }: CallsAsked,
): Promise<MethodCalls[]> {
  const rows = await database.query<Omit<MethodCalls, 'half' | 'most'> & { readonly latency: readonly number[] }>(
    `WITH asked AS (SELECT * FROM gateway_calls WHERE ${OF_ASKED}),
     parts AS (
       SELECT chain_id, method, place, sum(answers)::float8 AS answers
         FROM asked, unnest(latency) WITH ORDINALITY AS part (answers, place) GROUP BY 1, 2, 3),
     latencies AS (SELECT chain_id, method, array_agg(answers ORDER BY place) AS latency FROM parts GROUP BY 1, 2)
     SELECT chain_id::float8 AS "chainId", method, sum(calls)::float8 AS calls, sum(errors)::float8 AS errors,
       sum(cached)::float8 AS cached, coalesce(latencies.latency, '{}') AS latency
     FROM asked LEFT JOIN latencies USING (chain_id, method)
     GROUP BY chain_id, method, latencies.latency ORDER BY calls DESC, 1, 2`,
    [hours, chainId ?? null],
  );
  return rows.map(({ latency, ...row }) => ({
    ...row,
    half: latencyPercentile(CALL_TIME_BOUNDS, latency, 0.5),
    most: latencyPercentile(CALL_TIME_BOUNDS, latency, 0.95),
  }));
}

/** By the hour, the oldest first; hours without calls are left out. */
export function readHourCalls(database: Pick<Database, 'query'>, { hours, chainId }: CallsAsked): Promise<HourCalls[]> {
  return database.query<HourCalls>(
    `SELECT hour, sum(calls)::float8 AS calls, sum(errors)::float8 AS errors, sum(cached)::float8 AS cached
       FROM gateway_calls WHERE ${OF_ASKED} GROUP BY hour ORDER BY hour`,
    [hours, chainId ?? null],
  );
}
