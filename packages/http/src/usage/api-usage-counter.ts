import { type Clock, errorText, type Logger } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';

/** An answered request of a key. */
export interface CountedRequest {
  /** Principal's id, `open` without keys. */
  readonly keyId: string;
  readonly method: string;
  /** The route's pattern. */
  readonly route: string;
  readonly status: number;
}

/** Counts requests in memory and adds them to table `api_usage` every few seconds. */
export interface ApiUsageCounter {
  count(request: CountedRequest): void;
  /** Writes what was counted; what can't be written is kept for the next time. Never rejects. */
  flush(): Promise<void>;
  /** Writes what was counted, for the last time. */
  close(): Promise<void>;
}

const FLUSH_MS = 5_000;
const DAY_MS = 86_400_000;

interface Entry {
  readonly keyId: string;
  readonly method: string;
  readonly route: string;
  requests: number;
  refused: number;
  failed: number;
}

export function createApiUsageCounter(options: {
  readonly database: Database;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now'>;
}): ApiUsageCounter {
  const { database, logger, clock } = options;
  let entries = new Map<string, Entry>();
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
    writing = writing.then(writeEntries).then(() => {
      if (!isClosed) timer = scheduleFlush();
    });
    return writing;
  }

  async function writeEntries(): Promise<void> {
    const written = [...entries.values()];
    const day = new Date(since).toISOString().slice(0, 10);
    entries = new Map();
    since = clock.now();
    if (written.length === 0) return;
    try {
      await addUsage(database, day, written);
    } catch (error) {
      logger[failureLevel(error)](
        { error: errorText(error) },
        'Usage of the API could not be written: it is kept for the next time',
      );
      for (const entry of written) add(entryOf(entries, entry), entry);
    }
  }

  return {
    count(request) {
      const entry = entryOf(entries, request);
      entry.requests += 1;
      if (request.status >= 500) entry.failed += 1;
      else if (request.status >= 400) entry.refused += 1;
    },
    flush,
    close: () => {
      isClosed = true;
      return flush();
    },
  };
}

function entryOf(
  entries: Map<string, Entry>,
  { keyId, method, route }: Pick<Entry, 'keyId' | 'method' | 'route'>,
): Entry {
  const name = `${keyId} ${method} ${route}`;
  const known = entries.get(name);
  if (known !== undefined) return known;
  const made = { keyId, method, route, requests: 0, refused: 0, failed: 0 };
  entries.set(name, made);
  return made;
}

function add(to: Entry, from: Entry): void {
  to.requests += from.requests;
  to.refused += from.refused;
  to.failed += from.failed;
}

// In one order everywhere, so that two processes never wait for each other's rows.
const ADD_SQL = `INSERT INTO api_usage (key_id, day, method, route, requests, refused, failed)
SELECT key_id, $1::date, method, route, requests, refused, failed
FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[])
  AS counted (key_id, method, route, requests, refused, failed)
ORDER BY key_id, method, route
ON CONFLICT (key_id, day, method, route) DO UPDATE SET
  requests = api_usage.requests + excluded.requests,
  refused = api_usage.refused + excluded.refused,
  failed = api_usage.failed + excluded.failed`;

async function addUsage(database: Database, day: string, entries: readonly Entry[]): Promise<void> {
  await database.query(ADD_SQL, [
    day,
    entries.map(({ keyId }) => keyId),
    entries.map(({ method }) => method),
    entries.map(({ route }) => route),
    entries.map(({ requests }) => requests),
    entries.map(({ refused }) => refused),
    entries.map(({ failed }) => failed),
  ]);
}
