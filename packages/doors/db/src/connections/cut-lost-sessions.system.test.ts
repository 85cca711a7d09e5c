/** A proxy switches to another server and leaves the old connections hanging. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@chainstead/core';
import { openSwitchedLine, type SwitchedLine } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../database.ts';
import { DatabaseUnavailableError } from '../database-outage.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded/embedded-postgres.ts';
import { openDatabase } from '../open-database.ts';
import { rawSql, sql } from '../sql.ts';

const PASSWORD = 'of-both';
/** Longer than the check interval until connections are cut. */
const WAIT_MS = 30_000;

let folder: string;
let left: EmbeddedPostgres;
let right: EmbeddedPostgres;
let line: SwitchedLine;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-line-'));
  [left, right] = await Promise.all([start('left'), start('right')]);
});
afterAll(async () => {
  await left?.stop();
  await right?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(name: string): Promise<EmbeddedPostgres> {
  const settings = { fsync: 'off', shared_buffers: '16MB' };
  const server = await startEmbeddedPostgres({ dataDir: join(folder, name), logger: silentLogger(), settings });
  const admin = openDatabase({ url: server.superuserUrl, applicationName: 'admin', logger: silentLogger() });
  await admin.query(sql`CREATE ROLE app LOGIN PASSWORD '${rawSql(PASSWORD)}'`);
  await admin.close();
  return server;
}

const addressOf = (server: EmbeddedPostgres): { readonly host: string; readonly port: number } => {
  const { hostname: host, port } = new URL(server.url);
  return { host, port: Number(port) };
};

async function portOf(database: Database): Promise<number | undefined> {
  const [row] = await database.query<{ port: number }>(sql`SELECT current_setting('port')::int AS port`);
  return row?.port;
}

test(
  'whoever waits for a server that is not behind its connection any more is told so, and is served by the other one; whoever waits for one that is goes on',
  async () => {
    line = await openSwitchedLine(addressOf(left));
    const url = `postgres://app:${PASSWORD}@127.0.0.1:${line.port}/chainstead`;
    const database = openDatabase({ url, applicationName: 'behind', logger: silentLogger() });
    try {
      // Three connections, all idle when the proxy switches to the other server.
      await Promise.all([1, 2, 3].map(() => database.query(sql`SELECT pg_sleep(0.2)`)));
      expect(await portOf(database)).toBe(addressOf(left).port);
      line.switchTo(addressOf(right), 'hang');
      expect(line.hanging).toBe(3);
      const waiting = Promise.allSettled([
        portOf(database),
        database.transaction((one) => one.query(sql`SELECT 1`)),
      ]);
      for (const result of await waiting)
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailableError) });
      await expect.poll(() => line.hanging).toBe(0);
      expect(await portOf(database)).toBe(addressOf(right).port);
      // Longer than the check interval.
      expect(await database.query(sql`SELECT 'done' AS it FROM pg_sleep(12)`)).toEqual([{ it: 'done' }]);
    } finally {
      await database.close();
      await line.close();
    }
  },
  2 * WAIT_MS,
);
