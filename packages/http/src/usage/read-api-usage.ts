import { type Database, sql } from '@chainstead/db';

/** Requests of one key to one route on one day. */
export interface ApiUsage {
  /** First characters of a stored key, `config:<n>` for one of `API_KEYS`, `open` without keys. */
  readonly keyId: string;
  /** UTC, `2026-01-31`. */
  readonly day: string;
  readonly method: string;
  /** Pattern, such as `/api/v2.2/:address/erc20`. */
  readonly route: string;
  readonly requests: number;
  /** Responses with 400 to 499 among them. */
  readonly refused: number;
  /** Responses with 500 and above among them. */
  readonly failed: number;
}

/** Returns the usage of the last days, including today, newest day first. */
export function readApiUsage(database: Database, days: number): Promise<ApiUsage[]> {
  return database.query<ApiUsage>(
    sql`SELECT key_id AS "keyId", to_char(day, 'YYYY-MM-DD') AS day, method, route,
       requests::float8 AS requests, refused::float8 AS refused, failed::float8 AS failed
     FROM api_usage WHERE day > (now() AT TIME ZONE 'UTC')::date - ${days}::integer
     ORDER BY day DESC, key_id, route, method`,
  );
}
