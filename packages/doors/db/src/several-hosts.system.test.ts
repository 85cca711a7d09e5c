/** Several hosts in a connection string, with real servers: writable, read-only and unavailable. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@chainstead/core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Database } from './database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/embedded-postgres.ts';
import { openDatabase } from './open-database.ts';
import { rawSql, type Sql, sql } from './sql.ts';

let folder: string;
let left: EmbeddedPostgres;
let right: EmbeddedPostgres;
const password = 'of-both';

async function start(name: string): Promise<EmbeddedPostgres> {
  const settings = { fsync: 'off', shared_buffers: '16MB' };
  const server = await startEmbeddedPostgres({ dataDir: join(folder, name), logger: silentLogger(), settings });
  await asSuperuser(server, sql`CREATE ROLE app SUPERUSER LOGIN PASSWORD '${rawSql(password)}'`);
  return server;
}

async function asSuperuser(server: EmbeddedPostgres, ...statements: readonly Sql[]): Promise<void> {
  const admin = openDatabase({
    url: server.superuserUrl,
    applicationName: 'admin',
    poolSize: 1,
    logger: silentLogger(),
  });
  try {
    for (const statement of statements) await admin.query(statement);
  } finally {
    await admin.close();
  }
}

function takesWrites(server: EmbeddedPostgres, does: boolean): Promise<void> {
  const set = sql`ALTER SYSTEM SET default_transaction_read_only = ${rawSql(does ? 'off' : 'on')}`;
  // Only a transaction that is not read-only can change it.
  return asSuperuser(server, sql`SET default_transaction_read_only = off`, set, sql`SELECT pg_reload_conf()`);
}

function open(parameters: string, order: readonly EmbeddedPostgres[] = [left, right]): Database {
  const hosts = order.map(({ url }) => new URL(url).host).join(',');
  const url = `postgres://app:${password}@${hosts}/chainstead${parameters}`;
  return openDatabase({ url, applicationName: 'hosts', logger: silentLogger() });
}

async function portOf(database: Database): Promise<number | undefined> {
  const [row] = await database.query<{ port: number }>(sql`SELECT current_setting('port')::int AS port`);
  return row?.port;
}

function portAt(server: EmbeddedPostgres): number {
  return Number(new URL(server.url).port);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-hosts-'));
  [left, right] = [await start('left'), await start('right')];
});
afterAll(async () => {
  await left?.stop();
  await right?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('the first host that takes writes is used, and another one by itself when it goes away', async () => {
  await takesWrites(left, false);
  const any = open('?target_session_attrs=any');
  expect(await portOf(any)).toBe(portAt(left));
  await any.close();

  const database = open('', [left, right]);
  expect(await portOf(database)).toBe(portAt(right));
  // The standby is promoted after the primary is gone.
  await right.stop();
  await expect(portOf(database)).rejects.toThrow();
  await expect(database.query(sql`SELECT 1`)).rejects.toMatchObject({
    message: expect.stringMatching(/accepts no writes.*ECONNREFUSED/),
  });
  await takesWrites(left, true);
  await vi.waitFor(async () => expect(await portOf(database)).toBe(portAt(left)));
  await database.close();
});
