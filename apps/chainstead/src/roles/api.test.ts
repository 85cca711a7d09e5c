import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { startApi } from './api.ts';
import type { RoleContext } from './role.ts';

const scratch = scratchOfFile();

/** More than the time between two checks of a standby that is away. Milliseconds. */
const SOME_CHECKS_MS = 2_500;

/** A server that closes each connection at once, as a standby that is away. */
async function openAwayStandby() {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('A listening TCP server has no port');
  return { url: `postgres://someone@127.0.0.1:${address.port}/chainstead`, connections: () => connections };
}

test('an API that can’t start closes what it has opened by then', async () => {
  const standby = await openAwayStandby();
  await scratch.database.query(sql`ALTER TABLE stream_settings RENAME TO stream_settings_elsewhere`);
  const variables = {
    CHAINS: 'eth',
    RPC_URLS_ETH: 'http://127.0.0.1:9',
    PORT: '0',
    DATABASE_URL: scratch.url,
    DATABASE_READ_URL: standby.url,
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
  // It was checked before the start failed. Checks that continue would connect again.
  const connections = standby.connections();
  expect(connections).toBeGreaterThan(0);
  await setTimeout(SOME_CHECKS_MS);
  expect(standby.connections()).toBe(connections);

  await scratch.database.query(sql`ALTER TABLE stream_settings_elsewhere RENAME TO stream_settings`);
  const role = await startApi(context());
  try {
    // A running API continues to check.
    await expect.poll(standby.connections, { timeout: 15_000 }).toBeGreaterThan(connections + 1);
  } finally {
    await role.stop();
  }
});
