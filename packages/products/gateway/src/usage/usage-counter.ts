import { type Clock, getOrCompute, type Logger } from '@chainstead/core';
import { type Database, type Sql, sql } from '@chainstead/db';
import { createFlushedCounts } from '@chainstead/http/server';

/** In memory, and every few seconds to `gateway_usage` and `gateway_calls`. */
export type UsageCounter = ReturnType<typeof createUsageCounter>;

const HOUR_MS = 3_600_000;

type Counts = Map<string, Map<number, Map<string, UsageEntry>>>;

export function createUsageCounter(options: {
  readonly database: Database;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now'>;
}) {
  const counts = createFlushedCounts<Counts>({
    ...options,
    empty: () => new Map(),
    add: addCounts,
    write: (database, counted, hour) => writeUsage(database, hour, rowsOf(counted)),
    // An hour of UTC belongs to exactly one day.
    periodMs: HOUR_MS,
    what: 'Usage of the gateway',
  });
  return {
    /** After an await, get it again. */
    entry: (keyId: string, chainId: number, method: string): UsageEntry =>
      entryOf(counts.current(), keyId, chainId, method),
    flush: counts.flush,
    close: counts.close,
  };
}

function entryOf(counts: Counts, keyId: string, chainId: number, method: string): UsageEntry {
  const byChain = getOrCompute(counts, keyId, () => new Map());
  const byMethod = getOrCompute(byChain, chainId, () => new Map());
  return getOrCompute(byMethod, method, () => ({
    ...{ calls: 0, errors: 0, cached: 0, weight: 0, bytes: 0 },
    times: noTimes(),
  }));
}

function addCounts(to: Counts, from: Counts): void {
  for (const { keyId, chainId, method, entry } of rowsOf(from)) {
    const sum = entryOf(to, keyId, chainId, method);
    sum.calls += entry.calls;
    sum.errors += entry.errors;
    sum.cached += entry.cached;
    sum.weight += entry.weight;
    sum.bytes += entry.bytes;
    addTimes(sum.times, entry.times);
  }
}

function rowsOf(counts: Counts): CountedUsage[] {
  return [...counts].flatMap(([keyId, chains]) =>
    [...chains].flatMap(([chainId, methods]) =>
      [...methods].map(([method, entry]) => ({ keyId, chainId, method, entry })),
    ),
  );
}

interface UsageEntry {
  calls: number;
  errors: number;
  cached: number;
  weight: number;
  bytes: number;
  readonly times: number[];
}

interface CountedUsage {
  readonly keyId: string;
  readonly chainId: number;
  readonly method: string;
  readonly entry: UsageEntry;
}

const HOURS_KEPT = 7 * 24;

/** Writes to both tables, or to neither. */
async function writeUsage(database: Database, hour: Date, rows: readonly CountedUsage[]): Promise<void> {
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

/** Inclusive, in milliseconds; one more bucket follows the last. */
export const CALL_TIME_BOUNDS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000,
];

function noTimes(): number[] {
  return new Array<number>(CALL_TIME_BOUNDS.length + 1).fill(0);
}

export function countTime(times: number[], ms: number): void {
  const index = CALL_TIME_BOUNDS.findIndex((bound) => ms <= bound);
  const bucket = index === -1 ? CALL_TIME_BOUNDS.length : index;
  times[bucket] = (times[bucket] ?? 0) + 1;
}

function addTimes(to: number[], from: readonly number[]): void {
  for (const [index, calls] of from.entries()) to[index] = (to[index] ?? 0) + calls;
}
