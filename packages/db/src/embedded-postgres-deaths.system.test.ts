/** The embedded server, or the process that runs it, ends without being asked to. */
import { readdir } from 'node:fs/promises';
import { silentLogger } from '@chainstead/core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openDatabase } from './open-database.ts';
import { isPostgresProcess, until } from './postmaster.ts';
import {
  askServer,
  createEmbeddedTemplate,
  type EmbeddedTemplate,
  openEmbeddedFolder,
} from './testing/embedded-folder.ts';

const SLEEPERS = "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'";

let template: EmbeddedTemplate;

beforeAll(async () => {
  template = await createEmbeddedTemplate();
});
afterAll(() => template?.remove());

test('ends by itself when its process is killed, and starts again', async () => {
  const { start, startElsewhere, serverRuns } = await openEmbeddedFolder(template);
  const { child, url } = await startElsewhere();
  await askServer(url, 'CREATE TABLE kept AS SELECT 7 AS n');
  child.kill('SIGKILL');
  // At once, while the old server may still be on its way down.
  const next = await start();
  expect(await askServer(next.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  await next.stop();
  expect(await until(async () => !(await serverRuns()), 20_000)).toBe(true);
});

test('nothing remains of it when its process is killed and nobody starts it again', async () => {
  const { startElsewhere, serverPid } = await openEmbeddedFolder(template);
  const { child } = await startElsewhere();
  const pid = await serverPid();
  expect(await isPostgresProcess(pid)).toBe(true);
  child.kill('SIGKILL');
  expect(await until(async () => !(await isPostgresProcess(pid)), 20_000)).toBe(true);
});

test('a crash of the server itself is survived', async () => {
  const { start, serverPid } = await openEmbeddedFolder(template);
  const first = await start();
  await askServer(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
  const pid = await serverPid();
  process.kill(pid, 'SIGKILL');
  await until(async () => !(await isPostgresProcess(pid)), 10_000);
  const second = await start();
  expect(await askServer(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
});

test('a server that is killed is started again where it was, even while a session outlives it', async () => {
  const { start, serverPid, serverRuns } = await openEmbeddedFolder(template);
  const server = await start();
  await askServer(server.url, 'CREATE TABLE kept AS SELECT 7 AS n');
  const sleeping = askServer(server.url, 'SELECT pg_sleep(600)').catch((error: unknown) => error);
  await until(async () => (await askServer(server.url, SLEEPERS)).length === 1, 10_000);
  const pid = await serverPid();
  process.kill(pid, 'SIGKILL');
  expect(await until(async () => (await serverRuns()) && (await serverPid()) !== pid, 20_000)).toBe(true);
  const database = openDatabase({ url: server.url, applicationName: 'test', logger: silentLogger() });
  try {
    await vi.waitFor(async () => expect(await database.query('SELECT n FROM kept')).toEqual([{ n: 7 }]), 20_000);
  } finally {
    await database.close();
  }
  expect(await sleeping).toBeInstanceOf(Error);
  await server.stop();
  expect(await serverRuns()).toBe(false);
});

test('is stopped for good in the middle of being started again', async () => {
  const { start, dataDir, serverPid, serverRuns } = await openEmbeddedFolder(template);
  const server = await start();
  const pid = await serverPid();
  process.kill(pid, 'SIGKILL');
  await until(async () => !(await isPostgresProcess(pid)), 10_000);
  await server.stop();
  expect(await serverRuns()).toBe(false);
  expect(await readdir(dataDir)).not.toContain('owner');
});
