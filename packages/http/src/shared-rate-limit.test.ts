import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPostgresSpendingStore } from './limits/postgres-spending-store.ts';
import { createSharedLimits } from './limits/shared-limits.ts';
import { createDemoApi, fixedKeys } from './testing/demo-api.ts';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

test('requests of a key to two processes count together, and no key stands in the table', async () => {
  const key = 'secret-key-0123456789';
  const processes = [1, 2].map(() => {
    const sharedLimits = createSharedLimits({
      store: createPostgresSpendingStore({ database: scratch.database }),
      logger: silentLogger(),
      metrics: createMetricsRegistry(),
      // A machine that stalls doesn't make the store one that is away.
      timeoutMs: 30_000,
    });
    const { app } = createDemoApi({
      keys: fixedKeys(key),
      sharedLimits,
      limits: {
        bodyBytesMax: 1_000,
        pageLimitMax: 50,
        requestTimeoutMs: 30_000,
        rateLimit: { requests: 10, windowSeconds: 600 },
      },
    });
    return { app, sharedLimits };
  });
  const statuses: number[] = [];
  for (let request = 0; request < 20; request += 1) {
    const response = await processes[request % 2]?.app.request('/demo/small', { headers: { 'x-api-key': key } });
    statuses.push(response?.status ?? 0);
    if (response?.status !== 429) continue;
    const seconds = Number(response.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(600);
  }
  const accepted = statuses.filter((status) => status === 200).length;
  expect(accepted).toBeGreaterThanOrEqual(10);
  expect(accepted).toBeLessThanOrEqual(12);
  expect(statuses.filter((status) => status === 429)).toHaveLength(20 - accepted);
  const rows = await scratch.database.query<{ bucket: string }>('SELECT bucket FROM rate_spending');
  expect(rows.map(({ bucket }) => bucket)).toContain('api:config:1');
  expect(JSON.stringify(rows)).not.toContain(key);
  await Promise.all(processes.map(({ sharedLimits }) => sharedLimits.close()));
});
