import type { Clock, Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createFlushedCounts } from '@chainstead/http';
import { addTimes, noTimes } from './call-times.ts';
import { writeUsage } from './write-usage.ts';

/** Calls of one key to one method of one chain since they were last written. */
export interface UsageEntry {
  calls: number;
  /** Of them, answered with an error. */
  errors: number;
  /** Of them, answered without an upstream. */
  cached: number;
  weight: number;
  /** Bytes of results. */
  bytes: number;
  /** Those that were not cached by the time that they took (call-times.ts). */
  readonly times: number[];
}

/** Counts calls in memory and adds them to the tables `gateway_usage` and `gateway_calls` every few seconds. */
export interface UsageCounter {
  /** To be counted up at once: after waiting, ask for it again. */
  entry(keyId: string, chainId: number, method: string): UsageEntry;
  /** Writes what was counted; what can't be written is kept for the next time. Never rejects. */
  flush(): Promise<void>;
  /** Writes what was counted, for the last time. */
  close(): Promise<void>;
}

export interface UsageOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now'>;
}

/** Of one key. */
export interface UsageRow {
  readonly keyId: string;
  readonly chainId: number;
  readonly method: string;
  readonly entry: UsageEntry;
}

const HOUR_MS = 3_600_000;

type Counts = Map<string, Map<number, Map<string, UsageEntry>>>;

export function createUsageCounter(options: UsageOptions): UsageCounter {
  const counts = createFlushedCounts<Counts>({
    ...options,
    empty: emptyMap,
    add: addCounts,
    write: (database, counted, hour) => writeUsage(database, hour, rowsOf(counted)),
    // An hour of UTC belongs to one day.
    periodMs: HOUR_MS,
    what: 'Usage of the gateway',
  });
  return {
    entry: (keyId, chainId, method) => entryOf(counts.current(), keyId, chainId, method),
    flush: counts.flush,
    close: counts.close,
  };
}

function entryOf(counts: Counts, keyId: string, chainId: number, method: string): UsageEntry {
  const chains = orAdded(counts, keyId, emptyMap<number, Map<string, UsageEntry>>);
  const methods = orAdded(chains, chainId, emptyMap<string, UsageEntry>);
  return orAdded(methods, method, emptyEntry);
}

function orAdded<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function emptyMap<Key, Value>(): Map<Key, Value> {
  return new Map();
}

function emptyEntry(): UsageEntry {
  return { calls: 0, errors: 0, cached: 0, weight: 0, bytes: 0, times: noTimes() };
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

function rowsOf(counts: Counts): UsageRow[] {
  return [...counts].flatMap(([keyId, chains]) =>
    [...chains].flatMap(([chainId, methods]) =>
      [...methods].map(([method, entry]) => ({ keyId, chainId, method, entry })),
    ),
  );
}
