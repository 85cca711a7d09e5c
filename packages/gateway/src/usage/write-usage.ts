import { type Database, type Sql, sql } from '@chainstead/db';
import { addTimes } from './call-times.ts';

/** Calls of one key to one method of one chain since the last write. */
export interface UsageEntry {
  calls: number;
  /** Calls that returned an error. */
  errors: number;
  /** Calls served without an upstream. */
  cached: number;
  weight: number;
  /** Bytes of results. */
  bytes: number;
  /** Uncached calls by duration (call-times.ts). */
  readonly times: number[];
}

/** The counts of one key. */
export interface UsageRow {
  readonly keyId: string;
  readonly chainId: number;
  readonly method: string;
  readonly entry: UsageEntry;
}

/** Hours for which hourly calls are retained. */
const HOURS_KEPT = 7 * 24;

/** Adds the calls of one hour to both tables, or to neither. */
export async function writeUsage(database: Database, hour: Date, rows: readonly UsageRow[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(addUsage(hour, rows));
    await transaction.query(addCalls(hour, ofAllKeys(rows)));
  });
  await database.query(sql`DELETE FROM gateway_calls WHERE hour < now() - make_interval(hours => ${HOURS_KEPT})`);
}

interface CallsRow {
  readonly chain_id: number;
  readonly method: string;
  calls: number;
  errors: number;
  cached: number;
  readonly latency: number[];
}

function ofAllKeys(rows: readonly UsageRow[]): CallsRow[] {
  const sums = new Map<string, CallsRow>();
  for (const { chainId, method, entry } of rows) {
    const name = `${chainId} ${method}`;
    const sum = sums.get(name);
    if (sum === undefined) {
      const { calls, errors, cached, times } = entry;
      sums.set(name, { chain_id: chainId, method, calls, errors, cached, latency: [...times] });
      continue;
    }
    sum.calls += entry.calls;
    sum.errors += entry.errors;
    sum.cached += entry.cached;
    addTimes(sum.latency, entry.times);
  }
  return [...sums.values()];
}

/** The same row order everywhere, so that two processes never deadlock. */
function addUsage(hour: Date, rows: readonly UsageRow[]): Sql {
  const counts = (name: Exclude<keyof UsageEntry, 'times'>): number[] => rows.map(({ entry }) => entry[name]);
  return sql`INSERT INTO gateway_usage (key_id, day, chain_id, method, calls, errors, cached, weight, bytes)
SELECT key_id, ${hour.toISOString().slice(0, 10)}::date, chain_id, method, calls, errors, cached, weight, bytes
FROM unnest(${rows.map(({ keyId }) => keyId)}::text[], ${rows.map(({ chainId }) => chainId)}::bigint[], ${rows.map(({ method }) => method)}::text[],
    ${counts('calls')}::bigint[], ${counts('errors')}::bigint[], ${counts('cached')}::bigint[], ${counts('weight')}::bigint[], ${counts('bytes')}::bigint[])
  AS counted (key_id, chain_id, method, calls, errors, cached, weight, bytes)
ORDER BY key_id, chain_id, method
ON CONFLICT (key_id, day, chain_id, method) DO UPDATE SET
  calls = gateway_usage.calls + excluded.calls,
  errors = gateway_usage.errors + excluded.errors,
  cached = gateway_usage.cached + excluded.cached,
  weight = gateway_usage.weight + excluded.weight,
  bytes = gateway_usage.bytes + excluded.bytes`;
}

function addCalls(hour: Date, rows: readonly CallsRow[]): Sql {
  return sql`INSERT INTO gateway_calls (hour, chain_id, method, calls, errors, cached, latency)
SELECT ${hour}::timestamptz, chain_id, method, calls, errors, cached, latency
FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
  AS counted (chain_id bigint, method text, calls bigint, errors bigint, cached bigint, latency bigint[])
ORDER BY chain_id, method
ON CONFLICT (hour, chain_id, method) DO UPDATE SET
  calls = gateway_calls.calls + excluded.calls,
  errors = gateway_calls.errors + excluded.errors,
  cached = gateway_calls.cached + excluded.cached,
  latency = (SELECT array_agg(coalesce(old, 0) + coalesce(new, 0) ORDER BY place)
    FROM unnest(gateway_calls.latency, excluded.latency) WITH ORDINALITY AS both_of (old, new, place))`;
}
