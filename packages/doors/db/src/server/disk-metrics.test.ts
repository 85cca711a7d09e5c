import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { expect, test } from 'vitest';
import { measureDisk } from './size-metrics.ts';

test('a disk tells its size and what is free of it', async () => {
  const registry = createMetricsRegistry();
  measureDisk(registry, tmpdir(), silentLogger());
  const text = await registry.metrics();
  const { blocks, bsize } = await statfs(tmpdir());
  expect(text).toContain(`chainstead_disk_size_bytes ${blocks * bsize}\n`);
  const free = Number(/^chainstead_disk_free_bytes (\d+)$/m.exec(text)?.[1]);
  expect(free).toBeGreaterThan(0);
  expect(free).toBeLessThanOrEqual(blocks * bsize);
});

test('a folder that is gone takes no other metric with it', async () => {
  const registry = createMetricsRegistry();
  measureDisk(registry, '/no/such/folder', silentLogger());
  expect(await registry.metrics()).toContain('# TYPE chainstead_disk_free_bytes gauge');
});
