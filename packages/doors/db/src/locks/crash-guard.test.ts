import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import { sql } from '../sql.ts';
import { createWorkJournal, type RiskyWork } from './crash-guard.ts';
import { readSetAsideWork } from './quarantined-work.ts';

const scratch = scratchOfFile();
beforeEach(() => scratch.database.query(sql`TRUNCATE inflight_work, quarantined_work`));

const open = () =>
  createWorkJournal({ database: scratch.database, logger: silentLogger(), metrics: createMetricsRegistry() });
const work = (...keys: string[]): RiskyWork => ({ kind: 'token', keys });
const never = (): Promise<never> => new Promise(() => undefined);

/** Simulates a process that dies during this work, next to other work or alone. */
async function dieWith(given: RiskyWork, isAlone = false): Promise<void> {
  const journal = open();
  void journal.run(given, never);
  const written = async () => {
    const rows = await scratch.database.query<{ alone: string | null }>(
      sql`SELECT alone FROM inflight_work WHERE ${`token ${given.keys[0]}`} = ANY (items) AND alive_until > now() AND (NOT ${isAlone} OR ${`token ${given.keys[0]}`} = ANY (string_to_array(alone, E'\\n')))`,
    );
    return rows.length;
  };
  await expect.poll(written).toBe(1);
  await scratch.database.query(sql`UPDATE inflight_work SET alive_until = now() - interval '1 second'`);
}

test('work that a dead process had in hand is tried alone, and cleared when nothing happens', async () => {
  await dieWith(work('a', 'b', 'c'));
  const next = open();
  await next.start();
  expect(await next.suspects(work('a', 'b', 'c', 'd'))).toEqual(new Set(['a', 'b', 'c']));
  let running = 0;
  let most = 0;
  const perform = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running -= 1;
  };
  await Promise.all(['a', 'b'].map((key) => next.run(work(key), perform)));
  await expect(next.run(work('c'), () => Promise.reject(new Error('it failed')))).rejects.toThrow('it failed');
  expect(most).toBe(1);
  expect(await next.suspects(work('a', 'b', 'c'))).toEqual(new Set());
  await next.close();
  expect(await scratch.database.query(sql`SELECT FROM inflight_work`)).toEqual([]);
});

// Invariant: WORK-QUARANTINE
test('work that processes died of three times, the last two alone, is not done any more', async () => {
  for (const isAlone of [false, true, true]) {
    await dieWith(work('bad'), isAlone);
    const reaper = open();
    await reaper.start();
    await reaper.close();
  }
  const next = open();
  await next.start();
  let isDone = false;
  const done = next.run(work('bad'), async () => {
    isDone = true;
  });
  await expect(done).rejects.toMatchObject({ code: 'WORK_SET_ASIDE', facts: { crashes: 3 } });
  expect(isDone).toBe(false);
  expect(await readSetAsideWork(scratch.database, 10)).toMatchObject([{ name: 'token bad', crashes: 3 }]);
  await next.close();
});

test('processes that live leave each other’s work alone', async () => {
  const [one, other] = [open(), open()];
  await Promise.all([one.start(), other.start()]);
  const held = Promise.withResolvers<void>();
  const running = one.run(work('a'), () => held.promise);
  await expect
    .poll(
      async () =>
        (await scratch.database.query(sql`SELECT FROM inflight_work WHERE 'token a' = ANY (items)`)).length,
    )
    .toBe(1);
  const third = open();
  await third.start();
  expect(await third.suspects(work('a'))).toEqual(new Set());
  held.resolve();
  await running;
  await Promise.all([one.close(), other.close(), third.close()]);
});

test('work that could not be written down was not done, is in nobody’s hand, and stays a suspect', async () => {
  await dieWith(work('a'));
  const next = open();
  await next.start();
  await scratch.database.query(sql`ALTER TABLE inflight_work RENAME TO inflight_work_away`);
  let done = 0;
  const perform = async (): Promise<void> => {
    done += 1;
  };
  try {
    for (const key of ['a', 'b']) await expect(next.run(work(key), perform)).rejects.toThrow('inflight_work');
  } finally {
    await scratch.database.query(sql`ALTER TABLE inflight_work_away RENAME TO inflight_work`);
  }
  expect(done).toBe(0);
  await next.run(work('c'), async () => {
    const rows = await scratch.database.query<{ items: readonly string[] }>(sql`SELECT items FROM inflight_work`);
    expect(rows).toEqual([{ items: ['token c'] }]);
  });
  expect(await next.suspects(work('a', 'b'))).toEqual(new Set(['a']));
  await next.run(work('a'), perform);
  expect(done).toBe(1);
  await next.close();
});

test('an origin whose work ends processes under many keys is set aside with all of them, and others are not', async () => {
  const from = (key: string): RiskyWork => ({ kind: 'token', keys: [key], origin: 'stranger' });
  for (const [key, isAlone] of [
    ['one', false],
    ['two', true],
    ['three', true],
  ] as const) {
    await dieWith(from(key), isAlone);
    const reaper = open();
    await reaper.start();
    // Harmless work does not clear the origin.
    if (isAlone && key === 'two') await reaper.run(from('harmless'), async () => undefined);
    await reaper.close();
  }
  const next = open();
  await next.start();
  const done: string[] = [];
  const perform = (key: string) => async () => void done.push(key);
  await expect(next.run(from('four'), perform('four'))).rejects.toMatchObject({
    code: 'WORK_SET_ASIDE',
    facts: { origin: 'stranger', crashes: 3 },
  });
  await next.run({ ...from('four'), origin: 'another' }, perform('other'));
  expect(done).toEqual(['other']);
  expect(await readSetAsideWork(scratch.database, 10)).toMatchObject([
    { name: 'token from stranger', crashes: 3 },
  ]);
  await next.close();
});

test('an origin that only was in hand beside a crash is free again once its work is done', async () => {
  await dieWith({ kind: 'token', keys: ['one'], origin: 'innocent' });
  const next = open();
  await next.start();
  await next.run({ kind: 'token', keys: ['one'], origin: 'innocent' }, async () => undefined);
  expect(await scratch.database.query(sql`SELECT FROM quarantined_work`)).toEqual([]);
  await next.close();
});
