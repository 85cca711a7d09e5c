import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { fillNotificationQueue, startScratchServer } from '@chainstead/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createJobs } from './jobs.ts';

const anything = { parse: (input: unknown) => input };

test('jobs are added, run and finished while the queue of notifications of Postgres is full', async () => {
  const server = await startScratchServer({ settings: { max_notify_queue_pages: '64' } });
  onTestFinished(() => server.stop());
  const { url, database } = await server.createDatabase();
  const open = () => createJobs({ databaseUrl: url, logger: silentLogger(), metrics: createMetricsRegistry() });
  const handler = vi.fn(async () => {});
  // Several processes start at once.
  const [jobs, ...others] = await Promise.all([open(), open(), open()]);
  onTestFinished(async () => {
    for (const one of [jobs, ...others]) await one.close();
  });
  const queue = jobs.queue('crowded', { schema: anything });
  await queue.work(handler, { concurrency: 2 });
  await queue.add('before', {});
  await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(1));

  const reader = await fillNotificationQueue(url);
  onTestFinished(() => reader.leave());
  await queue.add('one', {});
  await queue.addBulk([{ id: 'two', payload: {} }]);
  await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(3), { timeout: 20_000 });
  await vi.waitFor(async () => expect(await queue.depth()).toMatchObject({ waiting: 0, active: 0, failed: 0 }));
  const unbound = await database.query(
    `SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'chainstead_jobs'::regnamespace AND proname <> 'pg_notify'
       AND prosrc LIKE '%pg_notify(%' AND NOT array_to_string(proconfig, ',') LIKE '%search_path=%pg_catalog%'`,
  );
  expect(unbound).toEqual([]);
});
