import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { startApi } from './api.ts';
import type { RoleContext } from './role.ts';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

/** Sessions of the server that lists are read from. */
const OPENED = ['chainstead api'];

const sessions = (): Promise<unknown> =>
  scratch.database.query(
    'SELECT application_name FROM pg_stat_activity WHERE datname = current_database() AND application_name = ANY ($1::text[])',
    [OPENED],
  );

test('an API that can’t start closes what it has opened by then', async () => {
  await scratch.database.query('ALTER TABLE stream_settings RENAME TO stream_settings_elsewhere');
  const variables = {
    CHAINS: 'eth',
    RPC_URLS_ETH: 'http://127.0.0.1:9',
    PORT: '0',
    DATABASE_URL: scratch.url,
    DATABASE_READ_URL: scratch.url,
  };
  const context = (): RoleContext => ({
    configuration: parseConfiguration([environmentSource(variables)]).configuration,
    database: scratch.database,
    databaseUrl: scratch.url,
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    clock: systemClock,
  });
  await expect(startApi(context())).rejects.toThrow(/stream_settings/);
  await expect.poll(sessions).toEqual([]);

  await scratch.database.query('ALTER TABLE stream_settings_elsewhere RENAME TO stream_settings');
  const role = await startApi(context());
  try {
    await expect.poll(sessions, { timeout: 15_000 }).not.toEqual([]);
  } finally {
    await role.stop();
  }
  await expect.poll(sessions).toEqual([]);
});
