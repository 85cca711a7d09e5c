import { type Clock, errorText, type Logger } from '@chainstead/core';
import { type Database, failureLevel, sql } from '@chainstead/db';

interface CountedRequest {
  readonly keyId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

export interface ApiUsageCounter {
  count(request: CountedRequest): void;
  flush(): Promise<void>;
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
  /** 501: not served here. */
  unserved: number;
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
      if (request.status === 501) entry.unserved += 1;
      else if (request.status >= 500) entry.failed += 1;
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
  const made = { keyId, method, route, requests: 0, refused: 0, failed: 0, unserved: 0 };
  entries.set(name, made);
  return made;
}

function addEntries(to: Entries, from: Entries): void {
  for (const entry of from.values()) {
    const sum = entryOf(to, entry);
    sum.requests += entry.requests;
    sum.refused += entry.refused;
    sum.failed += entry.failed;
    sum.unserved += entry.unserved;
  }
}

/** The same order in all processes avoids deadlocks. */
async function addUsage(database: Database, counted: Entries, day: Date): Promise<void> {
  const column = <Name extends keyof Entry>(name: Name): Entry[Name][] =>
    [...counted.values()].map((entry) => entry[name]);
  await database.query(
    sql`INSERT INTO api_usage (key_id, day, method, route, requests, refused, failed, unserved)
     SELECT key_id, ${day.toISOString().slice(0, 10)}::date, method, route, requests, refused, failed, unserved
     FROM unnest(${column('keyId')}::text[], ${column('method')}::text[], ${column('route')}::text[],
         ${column('requests')}::bigint[], ${column('refused')}::bigint[], ${column('failed')}::bigint[],
         ${column('unserved')}::bigint[])
       AS counted (key_id, method, route, requests, refused, failed, unserved)
     ORDER BY key_id, method, route
     ON CONFLICT (key_id, day, method, route) DO UPDATE SET
       requests = api_usage.requests + excluded.requests,
       refused = api_usage.refused + excluded.refused,
       failed = api_usage.failed + excluded.failed,
       unserved = api_usage.unserved + excluded.unserved`,
  );
}

export interface ApiUsage {
  /** Start of a stored key, `config:<n>` for one of `API_KEYS`, `open` without keys. */
  readonly keyId: string;
  /** UTC, `2026-01-31`. */
  readonly day: string;
  readonly method: string;
  readonly route: string;
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  readonly unserved: number;
}

export function readApiUsage(database: Database, days: number): Promise<ApiUsage[]> {
  return database.query<ApiUsage>(
    sql`SELECT key_id, to_char(day, 'YYYY-MM-DD') AS day, method, route,
       requests::float8 AS requests, refused::float8 AS refused, failed::float8 AS failed,
       unserved::float8 AS unserved
     FROM api_usage WHERE day > (now() AT TIME ZONE 'UTC')::date - ${days}::integer
     ORDER BY day DESC, key_id, route, method`,
  );
}

/** Sums over all keys. */
export type RouteUsage = Omit<ApiUsage, 'keyId' | 'day'>;

/** Most requests first. @param days UTC, with the current one */
export function readRouteUsage(database: Database, days: number): Promise<RouteUsage[]> {
  return database.query<RouteUsage>(
    sql`SELECT method, route, sum(requests)::float8 AS requests, sum(refused)::float8 AS refused, sum(failed)::float8 AS failed,
       sum(unserved)::float8 AS unserved
     FROM api_usage WHERE day > (now() AT TIME ZONE 'UTC')::date - ${days}::integer
     GROUP BY method, route ORDER BY sum(requests) DESC, route, method`,
  );
}

interface FlushedCountsOptions<Counts> {
  readonly empty: () => Counts;
  readonly write: (database: Database, counts: Counts, period: Date) => Promise<void>;
  readonly add: (to: Counts, from: Counts) => void;
  /** Counts of two periods are never written together. From the epoch: UTC hours and days. */
  readonly periodMs: number;
  readonly what: string;
  readonly database: Database;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now'>;
}

export interface FlushedCounts<Counts> {
  /** To increment synchronously: after an await, call it again. */
  current(): Counts;
  /** Counts that can't be written stay for the next flush. Never rejects. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const FLUSH_MS = 5_000;

export function createFlushedCounts<Counts>(options: FlushedCountsOptions<Counts>): FlushedCounts<Counts> {
  const { empty, write, add, periodMs, what, database, logger, clock } = options;
  let counts: Counts | null = null;
  let since = clock.now();
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;
  let timer = schedule();

  /** At the end of a period at the latest: counts belong to their period. */
  function schedule(): NodeJS.Timeout {
    const left = periodMs - (clock.now() % periodMs);
    return setTimeout(() => void flush(), Math.min(FLUSH_MS, left)).unref();
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    writing = writing.then(writeCounts).then(() => {
      clearTimeout(timer);
      if (!isClosed) timer = schedule();
    });
    return writing;
  }

  async function writeCounts(): Promise<void> {
    const written = counts;
    const period = new Date(since - (since % periodMs));
    counts = null;
    since = clock.now();
    if (written === null) return;
    try {
      await write(database, written, period);
    } catch (error) {
      logger[failureLevel(error)](
        { error: errorText(error) },
        `${what} could not be written: it is kept for the next time`,
      );
      counts ??= empty();
      add(counts, written);
    }
  }

  return {
    current: () => {
      counts ??= empty();
      return counts;
    },
    flush,
    close: () => {
      isClosed = true;
      return flush();
    },
  };
}
