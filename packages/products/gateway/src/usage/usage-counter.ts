import { type Clock, getOrCompute, type Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createFlushedCounts } from '@chainstead/http/server';
import { addTimes, noTimes } from './call-times.ts';
import { type CountedUsage, type UsageEntry, writeUsage } from './write-usage.ts';

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
