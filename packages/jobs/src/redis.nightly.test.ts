import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { findDockerDaemon, startRedisContainer } from '@chainstead/testkit';
import { afterAll, expect, test, vi } from 'vitest';
import { createJobs } from './jobs.ts';

const daemon = await findDockerDaemon('job queues on a Redis container');
const redis = daemon ? await startRedisContainer() : undefined;
afterAll(() => redis?.stop());

test.runIf(redis !== undefined)('a Redis container is taken for a home of queues', async () => {
  const jobs = await createJobs({
    redisUrl: redis?.url ?? '',
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
  });
  const queue = jobs.queue('container', { schema: { parse: (input: unknown) => input } });
  await queue.add('one', {});
  expect(await queue.depth()).toMatchObject({ waiting: 1 });
  await jobs.close();
});

if (redis !== undefined) {
  // Every test of the suite; it finds its Redis by this variable when it is loaded.
  vi.stubEnv('TEST_REDIS_URL', redis.url);
  await import('./jobs.system.test.ts');
}
