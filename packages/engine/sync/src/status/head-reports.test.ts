import { type Clock, createMetricsRegistry, silentLogger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { createSyncMetrics } from '../sync-metrics.ts';
import { readReportedChains, readUnknownHeads, reportHeads } from './head-reports.ts';

const scratch = scratchOfFile();

interface Told {
  readonly age: number;
  readonly seen: number | null;
  readonly reason?: string;
  readonly isFinished?: boolean;
  readonly isPooled?: boolean;
  readonly database?: Database;
}

/** Runs one report of a new process that started `age` ms ago, and whose node returned the head `seen` ms ago. */
async function report(
  chain: string,
  { age, seen, reason = 'HTTP 401', isFinished = false, isPooled = false, database = scratch.database }: Told,
) {
  const end = new AbortController();
  const metrics = createSyncMetrics(createMetricsRegistry());
  let now = 0;
  let looks = 0;
  const clock: Clock = {
    now: () => now,
    sleep: async () => {
      if (now === age) end.abort();
      now = age;
    },
  };
  const source = {
    seenAt: () => (now === 0 || seen === null ? null : age - seen),
    look: async () => looks++,
    reason: () => reason,
  };
  const shared = { database, clock, logger: silentLogger(), metrics, isPooled };
  const ended = new Promise<void>((resolve) => end.signal.addEventListener('abort', () => resolve()));
  await reportHeads({ chain, key: chain, source, ...shared }, end.signal, async () => {
    if (!isFinished) await ended;
  });
  const unknown = (await readUnknownHeads(scratch.database)).get(chain);
  const known = (await metrics.headKnown.get()).values.map(({ value }) => value);
  return { unknown, known, looks };
}

async function fallSilent(chain: string): Promise<void> {
  await scratch.database.query(
    sql`UPDATE head_reports SET reported_at = reported_at - interval '1 minute' WHERE chain = ${chain}`,
  );
}

test('a head that no node returned for six seconds is unknown, with the reason', async () => {
  expect(await report('1', { age: 60_000, seen: 5_000 })).toEqual({ unknown: undefined, known: [1], looks: 1 });
  await fallSilent('1');
  const { unknown, known } = await report('1', { age: 60_000, seen: 7_000 });
  expect(unknown).toMatchObject({ reason: 'HTTP 401', isSilent: false });
  expect(known).toEqual([0]);
  // A node that confirms the same head again and again makes it known.
  await fallSilent('1');
  expect(await report('1', { age: 600_000, seen: 100 })).toEqual({ unknown: undefined, known: [1], looks: 0 });
});

test('a node that never responds since the start makes the head unknown, and the start alone does not', async () => {
  expect((await report('2', { age: 3_000, seen: null })).unknown).toBeUndefined();
  expect((await report('2', { age: 7_000, seen: null })).unknown).toMatchObject({ reason: 'HTTP 401' });
});

test('a chain that no process reports on has an unknown head', async () => {
  await report('3', { age: 60_000, seen: 100 });
  await fallSilent('3');
  const unknown = (await readUnknownHeads(scratch.database)).get('3');
  expect(unknown).toMatchObject({ reason: 'no ingest process reports on the chain', isSilent: true });
});

test('one process at a time reports, and a reason of an earlier run does not stay', async () => {
  await scratch.database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, stall_reason) VALUES (4, 0, 0, 'HTTP 401')`,
  );
  const reasonOf = async () =>
    (await scratch.database.query(sql`SELECT stall_reason AS reason FROM sync_chains WHERE chain_id = 4`))[0]
      ?.reason;
  await scratch.database.query(
    sql`INSERT INTO head_reports (chain, reporter, reported_at) VALUES ('4', gen_random_uuid(), now())`,
  );
  expect(await report('4', { age: 60_000, seen: null })).toMatchObject({ unknown: undefined, known: [] });
  expect(await reasonOf()).toBe('HTTP 401');
  await fallSilent('4');
  expect((await report('4', { age: 60_000, seen: null })).unknown).toMatchObject({ reason: 'HTTP 401' });
  expect(await reasonOf()).toBeNull();
});

test('a chain at its end is still reported while its process runs, without calls of its nodes', async () => {
  await fallSilent('5');
  const told = await report('5', { age: 60_000, seen: null, isFinished: true });
  expect(told).toEqual({ unknown: undefined, known: [1], looks: 0 });
  expect(await readReportedChains(scratch.database)).toContain('5');
});

test('a chain whose work failed is no longer reported', async () => {
  const end = new AbortController();
  const failing = reportHeads(
    {
      ...{ chain: '6', key: '6', isPooled: false, database: scratch.database, logger: silentLogger() },
      source: { seenAt: () => null, look: async () => {}, reason: () => '' },
      clock: { now: () => 0, sleep: async () => {} },
      metrics: createSyncMetrics(createMetricsRegistry()),
    },
    end.signal,
    async () => {
      throw new RangeError('no such dataset');
    },
  );
  await expect(failing).rejects.toThrow('no such dataset');
});

test('a chain is silent as soon as its process has no session, unless a pooler hides sessions', async () => {
  const applicationName = 'chainstead ingest-7';
  const database = openDatabase({ url: scratch.url, sessionUrl: null, applicationName, logger: silentLogger() });
  await report('7', { age: 60_000, seen: 100, database });
  await report('8', { age: 60_000, seen: 100, database, isPooled: true });
  const before = await readReportedChains(scratch.database);
  expect([before.has('7'), before.has('8')]).toEqual([true, true]);
  await database.close();
  await expect.poll(async () => (await readUnknownHeads(scratch.database)).get('7')?.isSilent).toBe(true);
  const reported = await readReportedChains(scratch.database);
  expect([reported.has('7'), reported.has('8')]).toEqual([false, true]);
});
