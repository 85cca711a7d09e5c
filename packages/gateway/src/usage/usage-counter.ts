import { type Clock, errorText, type Logger } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';

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
}

/** Counts calls in memory and adds them to table `gateway_usage` every few seconds. */
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

const FLUSH_MS = 5_000;
const DAY_MS = 86_400_000;

type Counts = Map<string, Map<number, Map<string, UsageEntry>>>;

export function createUsageCounter({ database, logger, clock }: UsageOptions): UsageCounter {
  let counts: Counts = new Map();
  let since = clock.now();
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;
  let timer = scheduleFlush();

  /** Not across midnight: what is counted until then belongs to the day. */
  function scheduleFlush(): NodeJS.Timeout {
    const untilMidnight = DAY_MS - (clock.now() % DAY_MS);
    return setTimeout(() => void flush(), Math.min(FLUSH_MS, untilMidnight)).unref();
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    writing = writing.then(writeCounts).then(() => {
      if (!isClosed) timer = scheduleFlush();
    });
    return writing;
  }

  async function writeCounts(): Promise<void> {
    const written = counts;
    const day = new Date(since).toISOString().slice(0, 10);
    counts = new Map();
    since = clock.now();
    if (written.size === 0) return;
    try {
      await addUsage(database, day, written);
    } catch (error) {
      logger[failureLevel(error)](
        { error: errorText(error) },
        'Usage of the gateway could not be written: it is kept for the next time',
      );
      for (const row of rowsOf(written)) add(entryOf(counts, row.keyId, row.chainId, row.method), row.entry);
    }
  }

  return {
    entry: (keyId, chainId, method) => entryOf(counts, keyId, chainId, method),
    flush,
    close: () => {
      isClosed = true;
      return flush();
    },
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
  return { calls: 0, errors: 0, cached: 0, weight: 0, bytes: 0 };
}

function add(to: UsageEntry, from: UsageEntry): void {
  to.calls += from.calls;
  to.errors += from.errors;
  to.cached += from.cached;
  to.weight += from.weight;
  to.bytes += from.bytes;
}

interface UsageRow {
  readonly keyId: string;
  readonly chainId: number;
  readonly method: string;
  readonly entry: UsageEntry;
}

function rowsOf(counts: Counts): UsageRow[] {
  return [...counts].flatMap(([keyId, chains]) =>
    [...chains].flatMap(([chainId, methods]) =>
      [...methods].map(([method, entry]) => ({ keyId, chainId, method, entry })),
    ),
  );
}

// In one order everywhere, so that two processes never wait for each other's rows.
const ADD_SQL = `INSERT INTO gateway_usage (key_id, day, chain_id, method, calls, errors, cached, weight, bytes)
SELECT key_id, $1::date, chain_id, method, calls, errors, cached, weight, bytes
FROM unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])
  AS counted (key_id, chain_id, method, calls, errors, cached, weight, bytes)
ORDER BY key_id, chain_id, method
ON CONFLICT (key_id, day, chain_id, method) DO UPDATE SET
  calls = gateway_usage.calls + excluded.calls,
  errors = gateway_usage.errors + excluded.errors,
  cached = gateway_usage.cached + excluded.cached,
  weight = gateway_usage.weight + excluded.weight,
  bytes = gateway_usage.bytes + excluded.bytes`;

async function addUsage(database: Database, day: string, counts: Counts): Promise<void> {
  const rows = rowsOf(counts);
  await database.query(ADD_SQL, [
    day,
    rows.map(({ keyId }) => keyId),
    rows.map(({ chainId }) => chainId),
    rows.map(({ method }) => method),
    rows.map(({ entry }) => entry.calls),
    rows.map(({ entry }) => entry.errors),
    rows.map(({ entry }) => entry.cached),
    rows.map(({ entry }) => entry.weight),
    rows.map(({ entry }) => entry.bytes),
  ]);
}
