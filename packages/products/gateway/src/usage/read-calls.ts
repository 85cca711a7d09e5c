import { latencyPercentile } from '@chainstead/core';
import { type Database, type Sql, sql } from '@chainstead/db';
import { CALL_TIME_BOUNDS } from './usage-counter.ts';

export interface MethodCalls {
  readonly chainId: number;
  readonly method: string;
  readonly calls: number;
  readonly errors: number;
  readonly cached: number;
  /** p50 and p95 of uncached calls, milliseconds; null: none. */
  readonly half: number | null;
  readonly most: number | null;
}

export interface HourCalls {
  readonly hour: Date;
  readonly calls: number;
  readonly errors: number;
  readonly cached: number;
}

interface CallsRequested {
  /** Hours back, including the current one; at most 168. */
  readonly hours: number;
  readonly chainId?: number | undefined;
}

function isRequested({ hours, chainId }: CallsRequested): Sql {
  const chain = sql`${chainId ?? null}::bigint`;
  return sql`hour > date_trunc('hour', now()) - make_interval(hours => ${hours}) AND (${chain} IS NULL OR chain_id = ${chain})`;
}

export async function readMethodCalls(
  database: Pick<Database, 'query'>,
  requested: CallsRequested,
): Promise<MethodCalls[]> {
  const rows = await database.query<Omit<MethodCalls, 'half' | 'most'> & { readonly latency: readonly number[] }>(
    sql`WITH requested AS (SELECT * FROM gateway_calls WHERE ${isRequested(requested)}),
     parts AS (
       SELECT chain_id, method, place, sum(answers)::float8 AS answers
         FROM requested, unnest(latency) WITH ORDINALITY AS part (answers, place) GROUP BY 1, 2, 3),
     latencies AS (SELECT chain_id, method, array_agg(answers ORDER BY place) AS latency FROM parts GROUP BY 1, 2)
     SELECT chain_id::float8 AS "chainId", method, sum(calls)::float8 AS calls, sum(errors)::float8 AS errors,
       sum(cached)::float8 AS cached, coalesce(latencies.latency, '{}') AS latency
     FROM requested LEFT JOIN latencies USING (chain_id, method)
     GROUP BY chain_id, method, latencies.latency ORDER BY calls DESC, 1, 2`,
  );
  return rows.map(({ latency, ...row }) => ({
    ...row,
    half: latencyPercentile(CALL_TIME_BOUNDS, latency, 0.5),
    most: latencyPercentile(CALL_TIME_BOUNDS, latency, 0.95),
  }));
}

export function readHourCalls(
  database: Pick<Database, 'query'>,
  requested: CallsRequested,
): Promise<HourCalls[]> {
  return database.query<HourCalls>(
    sql`SELECT hour, sum(calls)::float8 AS calls, sum(errors)::float8 AS errors, sum(cached)::float8 AS cached
       FROM gateway_calls WHERE ${isRequested(requested)} GROUP BY hour ORDER BY hour`,
  );
}

export interface GatewayUsage {
  /** First characters of the key, `config:<n>` for one in `API_KEYS`, `open` without keys. */
  readonly keyId: string;
  /** UTC, `2026-01-31`. */
  readonly day: string;
  readonly chainId: number;
  readonly method: string;
  readonly calls: number;
  readonly errors: number;
  readonly cached: number;
  readonly weight: number;
  readonly bytes: number;
}

export function readGatewayUsage(database: Database, days: number): Promise<GatewayUsage[]> {
  return database.query<GatewayUsage>(
    sql`SELECT key_id, to_char(day, 'YYYY-MM-DD') AS day, chain_id::float8 AS "chainId", method,
       calls::float8 AS calls, errors::float8 AS errors, cached::float8 AS cached, weight::float8 AS weight, bytes::float8 AS bytes
     FROM gateway_usage
     WHERE day > (now() AT TIME ZONE 'UTC')::date - ${days}::integer
     ORDER BY day DESC, key_id, chain_id, method`,
  );
}
