import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { startScratchRedis } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { createJobs } from './jobs.ts';

const evicting = await startScratchRedis({ maxmemoryPolicy: 'allkeys-lru' });
if (evicting === undefined)
  process.stdout.write('NOT RUN: refusal of a Redis that evicts (no redis-server on this machine)\n');

test.runIf(evicting !== undefined)('a Redis that evicts keys is refused', async () => {
  const redisUrl = evicting?.url ?? '';
  try {
    const opening = createJobs({ redisUrl, logger: silentLogger(), metrics: createMetricsRegistry() });
    await expect(opening).rejects.toMatchObject({
      code: 'JOBS_REDIS_EVICTS',
      facts: { maxmemory_policy: 'allkeys-lru' },
      message: expect.stringContaining('noeviction'),
    });
  } finally {
    await evicting?.stop();
  }
});
