import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { counter, defineError, defineMetrics, errorText, type Logger, type Registry } from '@chainstead/core';
import type { Database } from '../database.ts';
import { sql } from '../sql.ts';
import { CRASHES_MAX, createSuspects } from './quarantined-work.ts';

/** Work on untrusted data, which might crash the process. */
export interface RiskyWork {
  readonly kind:
    | 'webhook'
    | 'token-facts'
    | 'collection'
    | 'token'
    | 'historical-job'
    | 'deferred-match'
    | 'history'
    | 'state'
    | 'ingestion'
    | 'range'
    | 'block';
  /** Several if the data is read together. */
  readonly keys: readonly string[];
  /** Author of the data under many keys. Crashes count against it too. */
  readonly origin?: string;
}

/** A crashed process's work is retried alone, key by key; quarantined after three crashes. */
export interface WorkJournal {
  /** Takes over records of dead processes, now and periodically. */
  start(): Promise<void>;
  /** @throws WorkSetAsideError instead, if a single key crashed processes too often */
  run<T>(work: RiskyWork, perform: () => Promise<T>): Promise<T>;
  /** Alone, as if the work were suspect: a crash is its fault. @throws WorkSetAsideError */
  alone<T>(work: RiskyWork, perform: () => Promise<T>): Promise<T>;
  /** For work that lasts as long as the process. @returns ends the record */
  hold(work: RiskyWork): Promise<() => void>;
  acquit(work: RiskyWork): Promise<void>;
  suspects(work: RiskyWork): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
}

export interface WorkJournalOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Silence after which another machine's process counts as dead. @default 20,000 */
  readonly leaseMs?: number;
}

export const WORK_QUARANTINED = 'WORK_SET_ASIDE';

/** The work crashed the process several times and is not retried. */
export class WorkSetAsideError extends defineError(
  'WORK_SET_ASIDE',
  ({ kind, keys, origin }: RiskyWork, crashes = CRASHES_MAX) => ({
    message: `Work quarantined: the process ended ${crashes} times during this work`,
    facts: { kind, key: keys[0], ...(origin === undefined ? {} : { origin }), crashes },
    remedy: 'Find the cause of the crashes, then DELETE the row FROM quarantined_work to retry the work',
  }),
) {}

const LEASE_MS = 20_000;

export const createJournalMetrics = defineMetrics('chainstead', {
  workSetAside: counter(
    'Number of attempts at quarantined work, by kind. Work is quarantined after it ended its process three times',
    ['kind'],
  ),
});

export function createWorkJournal(options: WorkJournalOptions): WorkJournal {
  const { database, logger, leaseMs = LEASE_MS } = options;
  const { workSetAside } = createJournalMetrics(options.metrics);
  const own = createProcessRow(options, leaseMs);
  const suspects = createSuspects({ database, logger, process: own.id });
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function runAlone<T>(work: RiskyWork, perform: () => Promise<T>): Promise<T> {
    const names = namesOf(work);
    try {
      const crashesOf = await own.write(names, names);
      const crashes = Math.max(0, ...names.map((name) => crashesOf.get(name) ?? 0));
      // Invariant: WORK-QUARANTINE
      if (crashes >= CRASHES_MAX) {
        workSetAside.inc({ kind: work.kind });
        throw new WorkSetAsideError(work, crashes);
      }
      try {
        return await perform();
      } finally {
        // An origin with several crashes stays suspect: this work may be harmless.
        const [key, origin] = names;
        await suspects.clear(
          names.filter((name) => name === key || (name === origin && crashesOf.get(name) === 1)),
        );
      }
    } finally {
      own.forget(names);
    }
  }

  function alone<T>(work: RiskyWork, perform: () => Promise<T>): Promise<T> {
    const mine = turn.then(() => runAlone(work, perform));
    // Only its caller gets the error; the next one just waits.
    turn = mine.catch(() => undefined);
    return mine;
  }

  async function look(): Promise<void> {
    try {
      await own.renew();
      await suspects.reap();
    } catch (error) {
      logger.debug({ reason: errorText(error) }, 'The journal of work could not be looked at');
    }
  }

  return {
    async start() {
      await own.enter();
      await suspects.reap();
      timer = setInterval(() => void look(), leaseMs / 4).unref();
    },
    async run(work, perform) {
      const names = namesOf(work);
      try {
        const crashes = await own.write(names, []);
        const isSuspect = work.keys.length === 1 && names.some((name) => crashes.has(name));
        if (!isSuspect) return await perform();
      } finally {
        own.forget(names);
      }
      return alone(work, perform);
    },
    alone,
    async hold(work) {
      const names = namesOf(work);
      try {
        await own.write(names, []);
      } catch (error) {
        own.forget(names);
        throw error;
      }
      let isHeld = true;
      return () => {
        // Another hold may have the same names.
        if (isHeld) own.forget(names);
        isHeld = false;
      };
    },
    acquit: (work) => suspects.clear(namesOf(work)),
    async suspects({ kind, keys }) {
      const suspected = await suspects.among(keys.map((key) => nameOf(kind, key)));
      return new Set(keys.filter((key) => suspected.has(nameOf(kind, key))));
    },
    async close() {
      clearInterval(timer);
      await own.leave();
    },
  };
}

export const UNWRITTEN: Pick<WorkJournal, 'run' | 'suspects'> = {
  run: (_work, perform) => perform(),
  suspects: async () => new Set(),
};

const nameOf = (kind: RiskyWork['kind'], key: string): string => `${kind} ${key}`;

function namesOf({ kind, keys, origin }: RiskyWork): readonly string[] {
  return [
    ...keys.map((key) => nameOf(kind, key)),
    ...(origin === undefined ? [] : [nameOf(kind, `from ${origin}`)]),
  ];
}

/** Work that begins during a write shares the next one. */
function createProcessRow({ database }: WorkJournalOptions, leaseMs: number) {
  const id = randomUUID();
  const inHand = new Map<string, number>();
  let alone: readonly string[] = [];
  let writing: Promise<ReadonlyMap<string, number>> | null = null;
  let next: Promise<ReadonlyMap<string, number>> | null = null;

  type Crashes = ReadonlyMap<string, number>;
  async function save(): Promise<Crashes> {
    const rows = await database.query<{ name: string; crashes: number }>(
      sql`WITH kept AS (
         INSERT INTO inflight_work (process, machine, pid, items, alone, alive_until)
         VALUES (${id}, ${hostname()}, ${process.pid}, ${[...inHand.keys()]}::text[], ${alone.length === 0 ? null : alone.join('\n')}, now() + ${leaseMs} * interval '1 millisecond')
         ON CONFLICT (process) DO UPDATE SET items = excluded.items, alone = excluded.alone, alive_until = excluded.alive_until
       )
       SELECT name, crashes FROM quarantined_work WHERE name = ANY (${[...inHand.keys()]}::text[])`,
    );
    return new Map(rows.map(({ name, crashes }) => [name, crashes]));
  }

  function flush(): Promise<Crashes> {
    if (writing === null) {
      writing = save().finally(() => {
        writing = null;
      });
      return writing;
    }
    // A failed write rejects only for its callers; this is the next one.
    next ??= writing
      .catch(() => undefined)
      .then(() => {
        next = null;
        return flush();
      });
    return next;
  }

  return {
    id,
    enter: async (): Promise<void> => void (await flush()),
    renew: async (): Promise<void> => void (await flush()),
    async write(names: readonly string[], only: readonly string[]) {
      for (const name of names) inHand.set(name, (inHand.get(name) ?? 0) + 1);
      if (only.length > 0) alone = only;
      return flush();
    },
    forget(names: readonly string[]): void {
      for (const name of names) {
        const count = (inHand.get(name) ?? 1) - 1;
        if (count <= 0) inHand.delete(name);
        else inHand.set(name, count);
        if (alone.includes(name)) alone = [];
      }
    },
    async leave(): Promise<void> {
      await database.query(sql`DELETE FROM inflight_work WHERE process = ${id}`);
    },
  };
}
