import { type Database, sql } from '@chainstead/db';

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
