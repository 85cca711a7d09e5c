import { type Clock, createMetricsRegistry, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { createSyncMetrics } from '../sync-metrics.ts';
import { keepHeadReports, readUnknownHeads } from './head-reports.ts';

const scratch = scratchOfFile();

/** Runs one report of a new process that started `age` ms ago, and whose node returned the head `seen` ms ago. */
async function report(
  chain: string,
  { age, seen, reason = 'HTTP 401' }: { age: number; seen: number | null; reason?: string },
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
  const shared = { database: scratch.database, clock, logger: silentLogger(), metrics };
  await keepHeadReports({ chain, key: chain, source, ...shared }, end.signal);
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
