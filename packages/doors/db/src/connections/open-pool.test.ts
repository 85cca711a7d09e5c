import { silentLogger } from '@chainstead/core';
import { expect, test } from 'vitest';
import { openPool } from './open-pool.ts';

test('an idle connection stays for minutes if it has prepared statements', async () => {
  const options = { url: 'postgres://localhost/x', applicationName: 'x', size: 1, logger: silentLogger() };
  const pools = [openPool(options), openPool({ ...options, prepared: true })];
  expect(pools.map((pool) => (pool.options.idleTimeoutMillis ?? 0) >= 60_000)).toEqual([false, true]);
  await Promise.all(pools.map((pool) => pool.end()));
});
