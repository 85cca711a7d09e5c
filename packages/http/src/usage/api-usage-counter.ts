import type { Clock, Logger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { createFlushedCounts } from './flushed-counts.ts';

/** A completed request of a key. */
export interface CountedRequest {
  /** Principal's id, `open` without keys. */
  readonly keyId: string;
  readonly method: string;
  /** The route pattern. */
  readonly route: string;
  readonly status: number;
}

/** Counts requests in memory and adds them to table `api_usage` every few seconds. */
export interface ApiUsageCounter {
  count(request: CountedRequest): void;
  /** Writes the counts; counts that can't be written stay for the next flush. Never rejects. */
  flush(): Promise<void>;
  /** Writes the counts for the last time. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;

interface Entry {
  readonly keyId: string;
  readonly method: string;
  readonly route: string;
  requests: number;
  refused: number;
  failed: number;
}

type Entries = Map<string, Entry>;

export function createApiUsageCounter(options: {
  readonly database: Database;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now'>;
}): ApiUsageCounter {
  const counts = createFlushedCounts<Entries>({
    ...options,
    empty: () => new Map(),
    add: addEntries,
    write: addUsage,
    periodMs: DAY_MS,
    what: 'Usage of the API',
  });
  return {
    count(request) {
      const entry = entryOf(counts.current(), request);
      entry.requests += 1;
      if (request.status >= 500) entry.failed += 1;
      else if (request.status >= 400) entry.refused += 1;
    },
    flush: counts.flush,
    close: counts.close,
  };
}

function entryOf(entries: Entries, { keyId, method, route }: Pick<Entry, 'keyId' | 'method' | 'route'>): Entry {
  const name = `${keyId} ${method} ${route}`;
  const known = entries.get(name);
  if (known !== undefined) return known;
  const made = { keyId, method, route, requests: 0, refused: 0, failed: 0 };
  entries.set(name, made);
  return made;
}

function addEntries(to: Entries, from: Entries): void {
  for (const entry of from.values()) {
    const sum = entryOf(to, entry);
    sum.requests += entry.requests;
    sum.refused += entry.refused;
    sum.failed += entry.failed;
  }
}

/** The same order in all processes avoids deadlocks. */
async function addUsage(database: Database, counted: Entries, day: Date): Promise<void> {
  const column = <Name extends keyof Entry>(name: Name): Entry[Name][] =>
    [...counted.values()].map((entry) => entry[name]);
  await database.query(
    sql`INSERT INTO api_usage (key_id, day, method, route, requests, refused, failed)
     SELECT key_id, ${day.toISOString().slice(0, 10)}::date, method, route, requests, refused, failed
     FROM unnest(${column('keyId')}::text[], ${column('method')}::text[], ${column('route')}::text[],
         ${column('requests')}::bigint[], ${column('refused')}::bigint[], ${column('failed')}::bigint[])
       AS counted (key_id, method, route, requests, refused, failed)
     ORDER BY key_id, method, route
     ON CONFLICT (key_id, day, method, route) DO UPDATE SET
       requests = api_usage.requests + excluded.requests,
       refused = api_usage.refused + excluded.refused,
       failed = api_usage.failed + excluded.failed`,
  );
}
