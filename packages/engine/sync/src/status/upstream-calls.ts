import { type Database, type Sql, sql } from '@chainstead/db';

export interface UpstreamCalls {
  readonly chain: string;
  /** Host, without credentials. */
  readonly upstream: string;
  readonly role: string;
  /** `ok`, `error` (of the call itself), or the kind of fault. */
  readonly outcome: string;
  readonly calls: number;
  /** Milliseconds; the row `ok` has those of all outcomes. */
  readonly busyMs: number;
  /** Responses by `LATENCY_BOUNDS_MS`; the row `ok` has those of all outcomes. */
  readonly latency: readonly number[];
}

export const CALLS_SLOT_MS = 600_000;
const KEPT_HOURS = 24;

const NAME_MAX = 300;

// The same order everywhere prevents deadlocks.
function addition(slot: Date, rows: readonly UpstreamCalls[]): Sql {
  return sql`INSERT INTO upstream_calls (slot, chain, upstream, role, outcome, calls, busy_ms, latency)
SELECT ${slot}, chain, upstream, role, outcome, calls, "busyMs", latency
FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
  AS counted (chain text, upstream text, role text, outcome text, calls bigint, "busyMs" bigint, latency bigint[])
ORDER BY chain, upstream, role, outcome
ON CONFLICT (slot, chain, upstream, role, outcome) DO UPDATE SET
  calls = upstream_calls.calls + excluded.calls,
  busy_ms = upstream_calls.busy_ms + excluded.busy_ms,
  -- Of nothing array_agg makes null: only the row ok has times.
  latency = coalesce((SELECT array_agg(coalesce(old, 0) + coalesce(new, 0) ORDER BY place)
    FROM unnest(upstream_calls.latency, excluded.latency) WITH ORDINALITY AS both_of (old, new, place)), '{}')`;
}

export async function addUpstreamCalls(
  database: Database,
  slot: Date,
  calls: readonly UpstreamCalls[],
): Promise<void> {
  const rows = calls.map((row) => ({ ...row, upstream: row.upstream.slice(0, NAME_MAX) }));
  await database.query(addition(slot, rows));
  await database.query(
    sql`DELETE FROM upstream_calls WHERE slot < now() - make_interval(hours => ${KEPT_HOURS})`,
  );
}

export interface RecentCalls extends UpstreamCalls {
  /** The last ten to twenty minutes; `ms`: length of that period. */
  readonly recent: { readonly calls: number; readonly busyMs: number; readonly ms: number };
}

/** By upstream, role and outcome. @param hours at most 24 */
export async function readUpstreamCalls(
  database: Pick<Database, 'query'>,
  hours: number,
): Promise<RecentCalls[]> {
  return database.query<RecentCalls>(
    sql`WITH recent AS (SELECT to_timestamp((floor(extract(epoch FROM now()) * 1000 / ${CALLS_SLOT_MS}) - 1) * ${CALLS_SLOT_MS} / 1000) AS slot),
     kept AS (SELECT * FROM upstream_calls WHERE slot > now() - make_interval(hours => ${hours})),
     parts AS (
       SELECT chain, upstream, role, outcome, place, sum(answers) AS answers
         FROM kept, unnest(latency) WITH ORDINALITY AS part (answers, place) GROUP BY 1, 2, 3, 4, 5),
     latencies AS (
       SELECT chain, upstream, role, outcome, array_agg(answers::float8 ORDER BY place) AS latency FROM parts GROUP BY 1, 2, 3, 4)
     SELECT kept.chain, kept.upstream, kept.role, kept.outcome, sum(calls)::float8 AS calls, sum(busy_ms)::float8 AS "busyMs",
       coalesce(latencies.latency, '{}') AS latency,
       json_build_object('calls', coalesce(sum(calls) FILTER (WHERE kept.slot >= recent.slot), 0)::float8,
         'busyMs', coalesce(sum(busy_ms) FILTER (WHERE kept.slot >= recent.slot), 0)::float8,
         'ms', extract(epoch FROM now() - max(recent.slot))::float8 * 1000) AS recent
     FROM kept CROSS JOIN recent LEFT JOIN latencies USING (chain, upstream, role, outcome)
     GROUP BY 1, 2, 3, 4, latencies.latency ORDER BY 1, 2, 3, 4`,
  );
}
