import { ChainsteadError, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createWorkJournal, type Sql, sql, statementOf } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { DueKind } from './claim-loop.ts';
import { dueChannel } from './due-channel.ts';
import { type DueSummary, summarizeDueWork } from './due-summary.ts';
import {
  type Claim,
  claimDue,
  type DueTable,
  failDue,
  isClaimed,
  releaseDue,
  renewDue,
  SETTLED,
} from './due-table.ts';
import { createDueWork, type DueWork, type DueWorkOptions } from './due-work.ts';
import { backoffSeconds } from './retry-delay.ts';

const TABLE: DueTable = { name: 'things', key: ['name', 'chain_id'], isUrgent: sql`is_urgent` };
const scratch = scratchOfFile();
const running: DueWork[] = [];

interface Thing {
  readonly name: string;
}

beforeAll(() =>
  scratch.database.query(sql`CREATE TABLE things (
    name text, chain_id bigint, status text NOT NULL DEFAULT 'pending', is_urgent boolean NOT NULL DEFAULT false, due_at timestamptz,
    attempts int NOT NULL DEFAULT 0, lease_until timestamptz, holder text, error_code text, error_message text, PRIMARY KEY (name, chain_id))`),
);
beforeEach(() => scratch.database.query(sql`TRUNCATE things, inflight_work, quarantined_work`));
afterEach(async () => {
  await Promise.all(running.splice(0).map((work) => work.close(0)));
});

const names = (claims: readonly Claim<Thing>[]): string[] => claims.map(({ row }) => row.name).toSorted();
const claim = (holder: string, limit = 10): Promise<Claim<Thing>[]> =>
  claimDue<Thing>(scratch.database, TABLE, {
    chainId: 1,
    limit,
    leaseMs: 60_000,
    holder,
    returning: sql`work.name`,
  });

async function addDue(...given: readonly string[]): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO things (name, chain_id, due_at) SELECT name, 1, now() - interval '1 second' * (1000 - place) FROM unnest(${given}::text[]) WITH ORDINALITY AS given (name, place)`,
  );
}

interface Row {
  readonly status: string;
  readonly attempts: number;
  readonly holder: string | null;
  readonly errorCode: string | null;
  readonly dueIn: number | null;
}

async function rowOf(name: string): Promise<Row | undefined> {
  const [row] = await scratch.database.query<Row>(
    sql`SELECT status, attempts, holder, error_code, round(extract(epoch FROM due_at - now()))::int AS due_in FROM things WHERE name = ${name}`,
  );
  return row;
}

const finish = (claimed: Claim<Thing>): Promise<unknown> =>
  scratch.database.query(sql`UPDATE things SET status = 'done', ${SETTLED} WHERE ${isClaimed(TABLE, claimed)}`);

/** Starts a worker on things. By default, `perform` finishes them. */
function startWork(
  given: Partial<DueKind<Thing>> = {},
  options: Partial<
    Pick<DueWorkOptions, 'clock' | 'database' | 'metrics' | 'sweepEveryMs' | 'leaseMs' | 'journal'>
  > = {},
): DueWork {
  const work = createDueWork({
    database: scratch.database,
    clock: systemClock,
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    ...options,
  });
  work.add<Thing>({
    name: 'things',
    chain: { id: 1, key: 'one' },
    table: TABLE,
    returning: sql`work.name`,
    concurrency: 2,
    risk: { kind: 'token', keyOf: ({ name }) => name },
    perform: async (claims) => void (await Promise.all(claims.map(finish))),
    retrySeconds: ({ attempts }) => backoffSeconds(attempts, { base: 10, max: 60 }),
    ...given,
  });
  work.start();
  running.push(work);
  return work;
}

const soon = { timeout: 10_000, interval: 20 };

// Invariant: WORK-ONE-HOLDER
test('each row is claimed by one of many concurrent claimers', async () => {
  const all = Array.from({ length: 60 }, (_, place) => `thing ${String(place).padStart(2, '0')}`);
  await addDue(...all);
  const claimers = Array.from({ length: 12 }, (_, place) => claim(`claimer ${place}`));
  const claimed = (await Promise.all(claimers)).flatMap(names);
  const rest = names(await claim('the last', 100));
  expect([...claimed, ...rest].toSorted()).toEqual(all);
});

test('claimers that cannot skip locked rows share them all the same', async () => {
  await addDue('a', 'b', 'c', 'd');
  const spread = { ...TABLE, isSpread: true };
  const options = { chainId: 1, limit: 4, leaseMs: 60_000, returning: sql`work.name` };
  const claimers = ['1', '2', '3'].map((holder) =>
    claimDue<Thing>(scratch.database, spread, { ...options, holder }),
  );
  expect((await Promise.all(claimers)).flatMap(names).toSorted()).toEqual(['a', 'b', 'c', 'd']);
});

test('urgent rows come first, then those that are due for longest', async () => {
  await addDue('old', 'young', 'urgent');
  await scratch.database.query(sql`UPDATE things SET is_urgent = name = 'urgent'`);
  expect(names(await claim('first', 1))).toEqual(['urgent']);
  expect(names(await claim('second', 1))).toEqual(['old']);
});

// Invariant: WORK-ONE-HOLDER
test('a lease keeps the row until it ends, and prolonging it keeps it longer; who lost it changes nothing more', async () => {
  await addDue('a');
  const [first] = await claim('first');
  if (first === undefined) throw new Error('nothing was claimed');
  expect(await claim('second')).toEqual([]);
  expect(await renewDue(scratch.database, TABLE, first, 60_000)).toBe(true);
  await scratch.database.query(sql`UPDATE things SET lease_until = now() - interval '1 second'`);
  expect(await claim('second')).toMatchObject([{ holder: 'second', attempts: 2 }]);
  expect(await renewDue(scratch.database, TABLE, first, 60_000)).toBe(false);
  await failDue(scratch.database, TABLE, first, { error: new Error('late'), retrySeconds: 1 });
  await releaseDue(scratch.database, TABLE, first);
  await finish(first);
  expect(await rowOf('a')).toMatchObject({ status: 'pending', holder: 'second', errorCode: null });
});

test('work asked for while it runs runs again; work given back does not count', async () => {
  await addDue('a');
  const [first] = await claim('first');
  if (first === undefined) throw new Error('nothing was claimed');
  await releaseDue(scratch.database, TABLE, first);
  const [second] = await claim('second');
  expect(second).toMatchObject({ attempts: 1 });
  await scratch.database.query(sql`UPDATE things SET due_at = now()`);
  expect(await claim('third')).toEqual([]);
  if (second !== undefined) await finish(second);
  expect(await rowOf('a')).toMatchObject({ status: 'done', attempts: 0, dueIn: 0 });
  expect(names(await claim('third'))).toEqual(['a']);
});

test('waits after failures grow to a bound', async () => {
  await addDue('a');
  const waits: (number | null)[] = [];
  for (let attempt = 1; attempt <= 5; attempt++) {
    const [claimed] = await claim(`attempt ${attempt}`);
    if (claimed === undefined) throw new Error('nothing was claimed');
    const retrySeconds = backoffSeconds(claimed.attempts, { base: 10, max: 60 });
    await failDue(scratch.database, TABLE, claimed, { error: new Error('no'), retrySeconds });
    waits.push((await rowOf('a'))?.dueIn ?? null);
    await scratch.database.query(sql`UPDATE things SET due_at = now()`);
  }
  expect(waits).toEqual([10, 20, 40, 60, 60]);
  expect(backoffSeconds(1_000_000, { base: 10, max: 60 })).toBe(60);
});

test('a notification wakes a worker long before its sweep', async () => {
  startWork({}, { sweepEveryMs: 3_600_000 });
  await addDue('a');
  await expect
    .poll(async () => {
      await scratch.database.transaction(async (transaction) => transaction.notify(dueChannel('things', 1)));
      return (await rowOf('a'))?.status;
    }, soon)
    .toBe('done');
});

test('a lost notification is made up for by the sweep', async () => {
  startWork({}, { sweepEveryMs: 50 });
  await addDue('a', 'b', 'c', 'd', 'e');
  await expect.poll(async () => (await rowOf('e'))?.status, soon).toBe('done');
});

test('an idle worker sleeps until the next row is due, or for half a minute, and asks one statement before it does', async () => {
  const sleeps: number[] = [];
  const statements: string[] = [];
  const options: Parameters<typeof startWork>[1] = {
    clock: {
      now: () => systemClock.now(),
      sleep: (ms, signal) => {
        sleeps.push(ms);
        return systemClock.sleep(ms, signal);
      },
    },
    database: {
      ...scratch.database,
      query: (statement: Sql) => {
        statements.push(statementOf(statement).text);
        return scratch.database.query(statement);
      },
    },
  };
  const idle = startWork({}, options);
  await expect.poll(() => sleeps, soon).toContain(30_000);
  await idle.close();
  const looks = statements.filter((text) => text.includes('min('));
  expect(looks).toHaveLength(sleeps.filter((ms) => ms === 30_000).length);
  sleeps.splice(0);
  await addDue('later');
  await scratch.database.query(sql`UPDATE things SET due_at = now() + interval '20 seconds'`);
  startWork({}, options);
  await expect.poll(() => sleeps.some((ms) => ms > 10_000 && ms <= 20_000), soon).toBe(true);
  expect(sleeps).not.toContain(30_000);
});

test('a row that fails is due again at its time, however seldom the worker sweeps', async () => {
  startWork(
    {
      perform: async (claims) => {
        for (const one of claims)
          if (one.attempts === 1) throw new Error('the first time');
          else await finish(one);
      },
      retrySeconds: () => 0.1,
    },
    { sweepEveryMs: 3_600_000 },
  );
  await addDue('a');
  await scratch.database.transaction(async (transaction) => transaction.notify(dueChannel('things', 1)));
  await expect.poll(async () => (await rowOf('a'))?.status, soon).toBe('done');
});

test('a scrape counts the rows that are due and those that are claimed', async () => {
  const metrics = createMetricsRegistry();
  const started: string[] = [];
  const { promise: blocked, resolve: release } = Promise.withResolvers<void>();
  const perform = async (claims: readonly Claim<Thing>[]): Promise<void> => {
    started.push(...names(claims));
    await blocked;
    for (const one of claims) await finish(one);
  };
  await addDue('a', 'b', 'c', 'd', 'later');
  await scratch.database.query(
    sql`UPDATE things SET due_at = now() + interval '20 seconds' WHERE name = 'later'`,
  );
  startWork({ perform }, { metrics });
  await expect.poll(() => started.length, soon).toBe(2);
  const scraped = await metrics.metrics();
  release();
  expect(scraped).toContain('chainstead_jobs_depth{queue="things-one",state="waiting"} 2');
  expect(scraped).toContain('chainstead_jobs_depth{queue="things-one",state="active"} 2');
});

test('no more than its concurrency is at work, and all that is due is worked on without another sweep', async () => {
  const all = Array.from({ length: 9 }, (_, place) => `thing ${place}`);
  await addDue(...all);
  const ends: (() => void)[] = [];
  let most = 0;
  let atWork = 0;
  startWork(
    {
      async perform(claims) {
        most = Math.max(most, ++atWork);
        await new Promise<void>((resolve) => ends.push(resolve));
        await Promise.all(claims.map(finish));
        atWork -= 1;
      },
    },
    { sweepEveryMs: 3_600_000 },
  );
  await expect
    .poll(async () => {
      for (const end of ends.splice(0)) end();
      return (await scratch.database.query(sql`SELECT FROM things WHERE status = 'done'`)).length;
    }, soon)
    .toBe(9);
  expect(most).toBe(2);
});

test('the rows of a worker that died are claimed when its leases end, those of a living one never', async () => {
  await addDue('a', 'b');
  await claim('the dead', 1);
  await scratch.database.query(
    sql`UPDATE things SET lease_until = now() + interval '300 milliseconds' WHERE holder IS NOT NULL`,
  );
  const performed: string[] = [];
  const slow = Promise.withResolvers<void>();
  const perform: DueKind<Thing>['perform'] = async (claims) => {
    performed.push(...names(claims));
    await slow.promise;
    await Promise.all(claims.map(finish));
  };
  startWork({ perform }, { sweepEveryMs: 50, leaseMs: 400 });
  startWork({ perform }, { sweepEveryMs: 50, leaseMs: 400 });
  await expect.poll(() => performed.toSorted(), soon).toEqual(['a', 'b']);
  // Longer than several leases.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  slow.resolve();
  await expect.poll(async () => (await rowOf('b'))?.status, soon).toBe('done');
  expect(performed.toSorted()).toEqual(['a', 'b']);
});

test('a failure is stored with the row; an end of the process gives it back', async () => {
  await addDue('bad');
  const failure = new ChainsteadError({ code: 'NO_UPSTREAM', message: 'No node', retryable: true });
  const failing = startWork({ perform: () => Promise.reject(failure) }, { sweepEveryMs: 50 });
  await expect
    .poll(() => rowOf('bad'), soon)
    .toMatchObject({ errorCode: 'NO_UPSTREAM', attempts: 1, dueIn: 10, holder: null });
  await failing.close();

  await addDue('long');
  const begun = Promise.withResolvers<void>();
  const work = startWork(
    {
      perform: (_claims, signal) => {
        begun.resolve();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    },
    { sweepEveryMs: 50 },
  );
  await begun.promise;
  await work.close(0);
  expect(await rowOf('long')).toMatchObject({ attempts: 0, holder: null, errorCode: null });
  expect((await rowOf('long'))?.dueIn).toBeLessThanOrEqual(0);
});

// Invariant: WORK-QUARANTINE
test('work that processes died of three times is not tried any more, and the rest of its batch is', async () => {
  const open = () =>
    createWorkJournal({ database: scratch.database, logger: silentLogger(), metrics: createMetricsRegistry() });
  await addDue('deadly', 'harmless');
  await scratch.database.query(sql`INSERT INTO quarantined_work (name, crashes) VALUES ('token deadly', 3)`);
  const journal = open();
  await journal.start();
  const performed: string[][] = [];
  startWork(
    {
      batch: 10,
      perform: async (claims) => {
        performed.push(names(claims));
        await Promise.all(claims.map(finish));
      },
    },
    { sweepEveryMs: 50, journal },
  );
  await expect.poll(() => rowOf('deadly'), soon).toMatchObject({ errorCode: 'WORK_SET_ASIDE', dueIn: 86_400 });
  await expect.poll(async () => (await rowOf('harmless'))?.status, soon).toBe('done');
  expect(performed).toEqual([['harmless']]);
  await journal.close();
});

test('the summary counts rows by state and chain, and stops at 10,000 rows', async () => {
  const { database } = scratch;
  await addDue('due', 'claimed', 'fails', 'deadly');
  await claim('somebody', 1);
  await database.query(
    sql`UPDATE things SET due_at = now() + interval '1 day', error_code = CASE name WHEN 'deadly' THEN 'WORK_SET_ASIDE' ELSE 'NO_UPSTREAM' END, error_message = 'no'
      WHERE name IN ('fails', 'deadly')`,
  );
  const summarize = (): Promise<DueSummary[]> =>
    summarizeDueWork(database, [{ kind: 'things', table: TABLE }], [1, 2]);
  const nothing = {
    dueNow: 0,
    claimed: 0,
    waiting: 0,
    quarantined: 0,
    isComplete: true,
    oldestDueAt: null,
    error: null,
  };
  expect(await summarize()).toEqual([
    {
      kind: 'things',
      chainId: 1,
      counts: {
        ...{ dueNow: 1, claimed: 1, waiting: 1, quarantined: 1, isComplete: true },
        oldestDueAt: expect.any(Date),
        error: { code: expect.stringMatching(/^(WORK_SET_ASIDE|NO_UPSTREAM)$/), message: 'no' },
      },
    },
    { kind: 'things', chainId: 2, counts: nothing },
  ]);
  await database.query(
    sql`INSERT INTO things (name, chain_id, due_at) SELECT number::text, 2, now() + interval '1 hour' FROM generate_series(1, 10001) AS number`,
  );
  const [, second] = await summarize();
  expect(second?.counts).toMatchObject({ waiting: 10_000, isComplete: false });
});
