import { randomBytes } from 'node:crypto';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { openDatabase, provisionDatabase } from '@chainstead/db';
import { createScratchDatabase } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createJobs, migrateJobs } from './jobs.ts';

const anything = { parse: (input: unknown) => input };

const scratch = scratchOfFile();

test('all queues of a process share one pool and one LISTEN connection on Postgres', async () => {
  const warnings = vi.fn();
  process.on('warning', warnings);
  const jobs = await createJobs({
    databaseUrl: scratch.url,
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    poolSize: 2,
  });
  try {
    const handler = vi.fn(async () => {});
    const queues = Array.from({ length: 12 }, (_, index) => jobs.queue(`shared-${index}`, { schema: anything }));
    for (const queue of queues) await queue.work(handler, { concurrency: 1 });
    for (const queue of queues) await queue.add('x', {});
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(12));
    const [row] = await scratch.database.query<{ connections: number }>(
      `SELECT count(*) AS connections FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'chainstead-jobs'`,
    );
    expect(row?.connections).toBeLessThanOrEqual(3);
    expect(warnings.mock.calls).toEqual([]);
  } finally {
    process.off('warning', warnings);
    await jobs.close();
  }
});

test('workers on Postgres go on after their connections were broken', async () => {
  const jobs = await createJobs({ databaseUrl: scratch.url, logger: silentLogger(), metrics: createMetricsRegistry() });
  try {
    const queue = jobs.queue('broken', { schema: anything });
    const handler = vi.fn(async () => {});
    await queue.work(handler, { concurrency: 1 });
    await queue.add('before', {});
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(1));
    await scratch.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'chainstead-jobs'`,
    );
    await vi.waitFor(() => queue.add('after', {}));
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(2), { timeout: 20_000 });
  } finally {
    await jobs.close();
  }
});

test('settings in the URL and a schema of its own are both respected', async () => {
  const url = new URL(scratch.url);
  url.searchParams.set('options', '-c statement_timeout=12345');
  const jobs = await createJobs({
    databaseUrl: url.href,
    prefix: 'other_jobs',
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
  });
  try {
    await jobs.queue('configured', { schema: anything }).add('x', {});
    expect(await scratch.database.query('SELECT queue FROM other_jobs.job')).toEqual([{ queue: 'configured' }]);
  } finally {
    await jobs.close();
  }
});

test('a role that may create nothing outside of the queue’s schema queues where that is up to date, with advisory locks of its own', async () => {
  const role = `queue_${randomBytes(6).toString('hex')}`;
  const own = await createScratchDatabase();
  const { database } = own;
  onTestFinished(async () => {
    await own.drop();
    await scratch.database.query(`DROP ROLE IF EXISTS ${role}, ${role}_reader`);
  });
  const urlOf = (name: string): string => {
    const url = new URL(own.url);
    url.username = name;
    url.password = 'secret';
    return url.href;
  };
  for (const name of [role, `${role}_reader`]) await database.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret'`);
  const open = () =>
    createJobs({ databaseUrl: urlOf(role), logger: silentLogger(), metrics: createMetricsRegistry(), poolSize: 2 });
  await expect(open()).rejects.toMatchObject({
    code: 'JOBS_SCHEMA_FORBIDDEN',
    remedy: expect.stringContaining('chainstead migrate'),
  });

  await migrateJobs({ databaseUrl: own.url, logger: silentLogger() });
  await database.query(`GRANT USAGE ON SCHEMA chainstead_jobs TO ${role};
    GRANT SELECT ON ALL TABLES IN SCHEMA chainstead_jobs TO ${role}`);
  await expect(open()).rejects.toMatchObject({
    code: 'JOBS_SCHEMA_FORBIDDEN',
    message: expect.stringContaining('sequence'),
  });
  await database.query(`GRANT CREATE ON SCHEMA chainstead_jobs TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA chainstead_jobs TO ${role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA chainstead_jobs TO ${role}`);
  await provisionDatabase({ superuserUrl: own.url, programUrl: urlOf(role) });

  const reader = openDatabase({ url: urlOf(`${role}_reader`), applicationName: 'reader', logger: silentLogger() });
  try {
    for (const call of ['pg_advisory_lock(1)', 'pg_try_advisory_lock(1)', 'pg_advisory_xact_lock_shared(1, 2)'])
      await expect(reader.query(`SELECT ${call}`)).rejects.toMatchObject({ code: '42501' });
  } finally {
    await reader.close();
  }
  const jobs = await open();
  try {
    const queue = jobs.queue('restricted', { schema: anything });
    const handler = vi.fn(async () => {});
    await queue.work(handler, { concurrency: 1 });
    await queue.addBulk([{ id: 'a', payload: {} }]);
    await queue.add('b', {});
    await queue.schedule('again', {}, { everyMs: 200 });
    await vi.waitFor(() => expect(handler.mock.calls.length).toBeGreaterThan(3), { timeout: 20_000 });
  } finally {
    await jobs.close();
  }
});

test('a database that is not there is an error', async () => {
  const databaseUrl = 'postgres://nobody:x@127.0.0.1:1/none';
  const opening = createJobs({ databaseUrl, logger: silentLogger(), metrics: createMetricsRegistry() });
  await expect(opening).rejects.toThrow();
});
