import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { openDatabase } from '@chainstead/db';
import { createScratchDatabase } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { createDeliveryMetrics } from './delivery-metrics.ts';

test('counts of streams that can no longer be read stay, and are marked stale', async () => {
  const scratch = await createScratchDatabase();
  const database = openDatabase({ url: scratch.url, applicationName: 'metrics', logger: silentLogger() });
  const registry = createMetricsRegistry();
  createDeliveryMetrics({ registry, database, logger: silentLogger() });
  try {
    expect(await registry.metrics()).toMatch(/^chainstead_streams_stale 0$/m);
    await database.close();
    const metrics = await registry.metrics();
    expect(metrics).toMatch(/^chainstead_streams_stale 1$/m);
    expect(metrics).toMatch(/^chainstead_streams\{status="active"\} 0$/m);
  } finally {
    await scratch.drop();
  }
});
