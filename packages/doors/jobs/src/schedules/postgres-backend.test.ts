import { randomBytes } from 'node:crypto';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { openDatabase, provisionDatabase } from '@chainstead/db/server';
import { createScratchDatabase } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { migrateJobs } from './postgres-backend.ts';
import { createSchedules } from './schedules.ts';

const scratch = scratchOfFile();
/** A run that loses its connection at its end starts again after `lockMs`. */
const open = (databaseUrl: string) =>
  createSchedules({
    databaseUrl,
    redisUrl: null,
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    lockMs: 1_000,
  });

test('schedules take three connections, and continue after these were broken', async () => {
  const warnings = vi.fn();
  process.on('warning', warnings);
  const url = new URL(scratch.url);
  url.searchParams.set('options', '-c lock_timeout=12345');
  const schedules = await open(url.href);
  try {
    const runs = Array.from({ length: 12 }, () => vi.fn(async () => {}));
    await schedules.start(runs.map((run, index) => ({ name: `shared-${index}`, everyMs: 100, run })));
    const allRan = (): void => {
      for (const run of runs) expect(run).toHaveBeenCalled();
    };
    await vi.waitFor(allRan, { timeout: 20_000 });
    const backends = await scratch.database.query<{ pid: number }>(
      sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name IN ('chainstead-jobs', 'schedules')`,
    );
    expect(backends.length).toBeGreaterThan(1);
    expect(backends.length).toBeLessThanOrEqual(3);
    const pids = backends.map(({ pid }) => pid);
    await scratch.database.query(sql`SELECT pg_terminate_backend(pid) FROM unnest(${pids}::int[]) AS pid`);
    for (const run of runs) run.mockClear();
    await vi.waitFor(allRan, { timeout: 20_000 });
    expect(warnings.mock.calls).toEqual([]);
  } finally {
    process.off('warning', warnings);
    await schedules.close();
  }
});

test('a role that may create nothing outside of BullMQ’s schema starts where that is up to date, with advisory locks of its own', async () => {
  const role = `queue_${randomBytes(6).toString('hex')}`;
  const own = await createScratchDatabase();
  const { database } = own;
  onTestFinished(async () => {
    await own.drop();
    await scratch.database.query(sql`DROP ROLE IF EXISTS ${rawSql(role)}, ${rawSql(role)}_reader`);
  });
  const urlOf = (name: string): string => {
    const url = new URL(own.url);
    url.username = name;
    url.password = 'secret';
    return url.href;
  };
  for (const name of [role, `${role}_reader`])
    await database.query(sql`CREATE ROLE ${rawSql(name)} LOGIN PASSWORD 'secret'`);
  await expect(open(urlOf(role))).rejects.toMatchObject({
    code: 'JOBS_SCHEMA_FORBIDDEN',
    remedy: expect.stringContaining('chainstead migrate'),
  });

  await migrateJobs({ databaseUrl: own.url, logger: silentLogger() });
  await database.query(sql`GRANT USAGE ON SCHEMA bullmq TO ${rawSql(role)};
    GRANT SELECT ON ALL TABLES IN SCHEMA bullmq TO ${rawSql(role)}`);
  await expect(open(urlOf(role))).rejects.toMatchObject({
    code: 'JOBS_SCHEMA_FORBIDDEN',
    message: expect.stringContaining('sequence'),
  });
  await database.query(sql`GRANT CREATE ON SCHEMA bullmq TO ${rawSql(role)};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA bullmq TO ${rawSql(role)};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA bullmq TO ${rawSql(role)}`);
  await provisionDatabase({ superuserUrl: own.url, programUrl: urlOf(role) });

  const reader = openDatabase({
    url: urlOf(`${role}_reader`),
    applicationName: 'reader',
    logger: silentLogger(),
  });
  try {
    for (const call of ['pg_advisory_lock(1)', 'pg_try_advisory_lock(1)', 'pg_advisory_xact_lock_shared(1, 2)'])
      await expect(reader.query(sql`SELECT ${rawSql(call)}`)).rejects.toMatchObject({ code: '42501' });
  } finally {
    await reader.close();
  }
  const schedules = await open(urlOf(role));
  try {
    const run = vi.fn(async () => {});
    await schedules.start([{ name: 'restricted', everyMs: 100, run }]);
    await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThan(2), { timeout: 20_000 });
  } finally {
    await schedules.close();
  }
});

test('a database that is not there is an error', async () => {
  await expect(open('postgres://nobody:x@127.0.0.1:1/none')).rejects.toThrow();
});
