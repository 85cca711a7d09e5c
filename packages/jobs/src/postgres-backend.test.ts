import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createJobs } from './jobs.ts';

const anything = { parse: (input: unknown) => input };

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

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

test('a database that is not there is an error', async () => {
  const databaseUrl = 'postgres://nobody:x@127.0.0.1:1/none';
  const opening = createJobs({ databaseUrl, logger: silentLogger(), metrics: createMetricsRegistry() });
  await expect(opening).rejects.toThrow();
});
