import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../open-database.ts';
import { rawSql, sql } from '../sql.ts';
import { measurePool } from './connection-metrics.ts';
import { openPool } from './open-pool.ts';

const scratch = scratchOfFile();

function open(poolSize: number) {
  const metrics = createMetricsRegistry();
  const logger = silentLogger();
  const database = openDatabase({ url: scratch.url, applicationName: 'measured', poolSize, logger, metrics });
  onTestFinished(() => database.close());
  const shown = async (series: string): Promise<number> => {
    const text = await metrics.metrics();
    const line = text.split('\n').find((one) => one.startsWith(`${series} `));
    return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
  };
  return { metrics, database, shown };
}

test('a pool tells what it holds, who waits for it, and how long each has waited', async () => {
  const { database, shown } = open(2);
  expect(await shown('chainstead_database_connections_max{pool="main"}')).toBe(2);
  expect(await shown('chainstead_database_connections{pool="main",state="in_use"}')).toBe(0);
  const [holding, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  const hold = () =>
    database.transaction(async () => {
      begun += 1;
      if (begun === 2) held.resolve();
      await holding.promise;
    });
  const both = [hold(), hold()];
  await held.promise;
  const third = database.query(sql`SELECT 1`);
  expect(await shown('chainstead_database_connections{pool="main",state="in_use"}')).toBe(2);
  expect(await shown('chainstead_database_waiting{pool="main"}')).toBe(1);
  expect(await shown('chainstead_database_wait_seconds_count{pool="main"}')).toBe(2);
  holding.resolve();
  await Promise.all([...both, third]);
  expect(await shown('chainstead_database_waiting{pool="main"}')).toBe(0);
  expect(await shown('chainstead_database_connections{pool="main",state="idle"}')).toBe(2);
  expect(await shown('chainstead_database_wait_seconds_count{pool="main"}')).toBe(3);
});

test('the wait of work under a signal is measured, too', async () => {
  const { database, shown } = open(2);
  await database.until(new AbortController().signal).query(sql`SELECT 1`);
  expect(await shown('chainstead_database_wait_seconds_count{pool="main"}')).toBe(1);
});

test('pools of a process share their metrics', async () => {
  const { metrics, shown } = open(3);
  const jobs = openPool({ url: scratch.url, applicationName: 'measured-jobs', size: 7, logger: silentLogger() });
  onTestFinished(() => jobs.end());
  measurePool(metrics, 'jobs', jobs);
  expect(await shown('chainstead_database_connections_max{pool="main"}')).toBe(3);
  expect(await shown('chainstead_database_connections_max{pool="jobs"}')).toBe(7);
});

test('the database counts as away from a failure that is its own until it answers again', async () => {
  const { database, shown } = open(2);
  const fail = (sqlstate: string) =>
    database.query(sql`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${rawSql(sqlstate)}'; END $$`);
  await database.query(sql`SELECT 1`);
  expect(await shown('chainstead_database_up')).toBe(1);
  await expect(fail('23505')).rejects.toThrow();
  expect(await shown('chainstead_database_up')).toBe(1);
  for (const [sqlstate, said] of [
    ['57P03', /does not accept connections now/],
    ['08P01', /can't be reached/],
  ] as const) {
    await expect(fail(sqlstate)).rejects.toThrow(said);
    expect(await shown('chainstead_database_up')).toBe(0);
    await database.query(sql`SELECT 1`);
    expect(await shown('chainstead_database_up')).toBe(1);
  }
});

test.each([
  ['of a cluster whose coordinator misses a node', '08006'],
  ['that is read-only', '25006'],
])('a database %s counts as away, though it answers something', async (_, sqlstate) => {
  const { database, shown } = open(2);
  await database.query(sql`SELECT 1`);
  const failing = database.query(
    sql`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${rawSql(sqlstate)}'; END $$`,
  );
  const remedy = expect.stringMatching(
    sqlstate === '25006' ? /default_transaction_read_only/ : /^Check the Postgres server/,
  );
  await expect(failing).rejects.toMatchObject({ remedy });
  await database.query(sql`SELECT 1`);
  expect(await shown('chainstead_database_up')).toBe(0);
});
