import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ChainsteadError, Counter, errorText, type Logger, type Registry } from '@chainstead/core';
import type { Database } from './database.ts';
import { CRASHES_MAX, createSuspects } from './suspect-work.ts';

/** Work that data of strangers goes into: whatever they write, it might end the process. */
export interface RiskyWork {
  readonly kind: 'webhook' | 'token-facts' | 'collection' | 'token' | 'historical-job' | 'history' | 'state';
  /** What is worked on; several things where they are read together. */
  readonly keys: readonly string[];
  /** Who wrote the data, where one stranger can write much of it under many keys. Crashes count against it, too. */
  readonly origin?: string;
}

/**
 * Knows what a process had in hand when it died. What it names is tried alone afterwards, one thing at a time, so that the one that
 * ends processes is found; after the third time it is set aside.
 */
export interface WorkJournal {
  /** Takes in what processes left that died, and goes on looking for such. */
  start(): Promise<void>;
  /**
   * Does the work after it was written down.
   * @throws WorkSetAsideError instead, when a single thing ended processes too often
   */
  run<T>(work: RiskyWork, perform: () => Promise<T>): Promise<T>;
  /** Which of these have to be tried alone: run each by itself. */
  suspects(work: RiskyWork): Promise<ReadonlySet<string>>;
  /** The process ends properly. */
  close(): Promise<void>;
}

export interface WorkJournalOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** After this a process of another machine that shows no sign of life is taken for dead. Default 20,000 ms. */
  readonly leaseMs?: number;
}

/** It ended the process several times, and is not tried any more. */
export class WorkSetAsideError extends ChainsteadError {
  constructor({ kind, keys, origin }: RiskyWork, crashes: number) {
    super({
      code: 'WORK_SET_ASIDE',
      message: `Set aside: the process ended ${crashes} times while it worked on this`,
      facts: { kind, key: keys[0], ...(origin === undefined ? {} : { origin }), crashes },
      remedy: 'Look for what is special about it; DELETE its row FROM suspect_work to have it tried again',
      retryable: false,
    });
  }
}

const LEASE_MS = 20_000;

export function createWorkJournal(options: WorkJournalOptions): WorkJournal {
  const { database, logger, leaseMs = LEASE_MS } = options;
  const setAside = new Counter({
    name: 'chainstead_work_set_aside_total',
    help: 'Attempts at work that had ended the process three times and is not done any more, by kind',
    labelNames: ['kind'],
    registers: [options.metrics],
  });
  const own = createProcessRow(options, leaseMs);
  const suspects = createSuspects({ database, logger, process: own.id });
  let timer: NodeJS.Timeout | undefined;
  /** Suspects take turns. */
  let turn: Promise<unknown> = Promise.resolve();

  async function runAlone<T>(work: RiskyWork, perform: () => Promise<T>): Promise<T> {
    const names = namesOf(work);
    try {
      const known = await own.write(names, names);
      const crashes = Math.max(0, ...names.map((name) => known.get(name) ?? 0));
      if (crashes >= CRASHES_MAX) {
        setAside.inc({ kind: work.kind });
        throw new WorkSetAsideError(work, crashes);
      }
      try {
        return await perform();
      } finally {
        // Done or failed, the process is still there. An origin that was to blame once stays: its other work may be harmless.
        const [key, origin] = names;
        await suspects.clear(names.filter((name) => name === key || (name === origin && known.get(name) === 1)));
      }
    } finally {
      own.forget(names);
    }
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
      const mine = turn.then(() => runAlone(work, perform));
      // Its own caller hears of a failure; whoever comes next only waits.
      turn = mine.catch(() => undefined);
      return mine;
    },
    async suspects({ kind, keys }) {
      const known = await suspects.among(keys.map((key) => nameOf(kind, key)));
      return new Set(keys.filter((key) => known.has(nameOf(kind, key))));
    },
    async close() {
      clearInterval(timer);
      await own.leave();
    },
  };
}

/** For work of which nothing has to be known should the process end. */
export const UNWRITTEN: Pick<WorkJournal, 'run' | 'suspects'> = {
  run: (_work, perform) => perform(),
  suspects: async () => new Set(),
};

function nameOf(kind: RiskyWork['kind'], key: string): string {
  return `${kind} ${key}`;
}

/** What is written down of work: its keys, then its origin. */
function namesOf({ kind, keys, origin }: RiskyWork): readonly string[] {
  return [...keys.map((key) => nameOf(kind, key)), ...(origin === undefined ? [] : [nameOf(kind, `from ${origin}`)])];
}

/** This process' row: what it has in hand. One write for all that begins while the one before is under way. */
function createProcessRow({ database }: WorkJournalOptions, leaseMs: number) {
  const id = randomUUID();
  const inHand = new Map<string, number>();
  let alone: readonly string[] = [];
  let writing: Promise<ReadonlyMap<string, number>> | null = null;
  let next: Promise<ReadonlyMap<string, number>> | null = null;

  async function save(): Promise<ReadonlyMap<string, number>> {
    const rows = await database.query<{ name: string; crashes: number }>(
      `WITH kept AS (
         INSERT INTO process_work (process, machine, pid, items, alone, alive_until)
         VALUES ($1, $2, $3, $4::text[], $5, now() + $6 * interval '1 millisecond')
         ON CONFLICT (process) DO UPDATE SET items = excluded.items, alone = excluded.alone, alive_until = excluded.alive_until
       )
       SELECT name, crashes FROM suspect_work WHERE name = ANY ($4::text[])`,
      [id, hostname(), process.pid, [...inHand.keys()], alone.length === 0 ? null : alone.join('\n'), leaseMs],
    );
    return new Map(rows.map(({ name, crashes }) => [name, crashes]));
  }

  /** Resolves when all that is in hand by now is written. */
  function flush(): Promise<ReadonlyMap<string, number>> {
    if (writing === null) {
      writing = save().finally(() => {
        writing = null;
      });
      return writing;
    }
    // Those who wait for the write before hear that it failed; this one is another.
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
    /** @param only what is tried alone; none: nothing is */
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
      await database.query('DELETE FROM process_work WHERE process = $1', [id]);
    },
  };
}
