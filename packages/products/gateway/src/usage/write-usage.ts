import { type Database, type Sql, sql } from '@chainstead/db';
import { addTimes, noTimes } from './call-times.ts';

export interface UsageEntry {
  calls: number;
  errors: number;
  cached: number;
  weight: number;
  bytes: number;
  readonly times: number[];
}

export interface CountedUsage {
  readonly keyId: string;
  readonly chainId: number;
  readonly method: string;
  readonly entry: UsageEntry;
}

const HOURS_KEPT = 7 * 24;

/** Writes to both tables, or to neither. */
export async function writeUsage(database: Database, hour: Date, rows: readonly CountedUsage[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(addUsage(hour, rows));
    await transaction.query(addCalls(hour, ofAllKeys(rows)));
  });
  await database.query(sql`DELETE FROM gateway_calls WHERE hour < now() - make_interval(hours => ${HOURS_KEPT})`);
}

function ofAllKeys(rows: readonly CountedUsage[]) {
  const byMethod = Map.groupBy(rows, ({ chainId, method }) => `${chainId} ${method}`);
  return Array.from(byMethod.values(), (sameMethod) => {
    const latency = noTimes();
    for (const { entry } of sameMethod) addTimes(latency, entry.times);
    const sum = (count: 'calls' | 'errors' | 'cached'): number =>
      sameMethod.reduce((total, { entry }) => total + entry[count], 0);
    const { chainId, method } = sameMethod[0] ?? {};
    return { chainId, method, calls: sum('calls'), errors: sum('errors'), cached: sum('cached'), latency };
  });
}

/** The same row order everywhere, so that two processes never deadlock. */
function addUsage(hour: Date, rows: readonly CountedUsage[]): Sql {
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

function addCalls(hour: Date, rows: ReturnType<typeof ofAllKeys>): Sql {
  return sql`INSERT INTO gateway_calls (hour, chain_id, method, calls, errors, cached, latency)
SELECT ${hour}::timestamptz, "chainId", method, calls, errors, cached, latency
FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
  AS counted ("chainId" bigint, method text, calls bigint, errors bigint, cached bigint, latency bigint[])
ORDER BY "chainId", method
ON CONFLICT (hour, chain_id, method) DO UPDATE SET
  calls = gateway_calls.calls + excluded.calls,
  errors = gateway_calls.errors + excluded.errors,
  cached = gateway_calls.cached + excluded.cached,
  latency = (SELECT array_agg(coalesce(old, 0) + coalesce(new, 0) ORDER BY place)
    FROM unnest(gateway_calls.latency, excluded.latency) WITH ORDINALITY AS both_of (old, new, place))`;
}
