/** Properties of the embedded server after its first start. */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { chmod, chown, mkdir, statfs, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { silentLogger } from '@chainstead/core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sql } from '../sql.ts';
import {
  createEmbeddedTemplate,
  type EmbeddedTemplate,
  openEmbeddedFolder,
  queryServer,
} from '../testing/embedded-folder.ts';
import { isEmbeddedServer } from './embedded-postgres.ts';
import { walMegabytes } from './postmaster.ts';
import { pickAccount } from './server-account.ts';

/** Bytes that other processes may write to or free on the disk during a test. */
const OTHERS_WRITE = 5 * 1024 ** 3;
const asRoot = process.getuid?.() === 0;

let template: EmbeddedTemplate;

beforeAll(async () => {
  template = await createEmbeddedTemplate();
});
afterAll(() => template?.remove());

test('serves a UTF8 database in locale C, to those who know the password, on the loopback interface', async () => {
  const { start, dataDir } = await openEmbeddedFolder();
  const { url } = await start();
  expect(
    await queryServer(
      url,
      sql`SELECT current_database() AS name, current_setting('server_encoding') AS encoding`,
    ),
  ).toEqual([{ name: 'chainstead', encoding: 'UTF8' }]);
  expect(
    await queryServer(url, sql`SELECT datcollate, datctype FROM pg_database WHERE datname = current_database()`),
  ).toEqual([{ datcollate: 'C', datctype: 'C' }]);
  expect(await queryServer(url, sql`SELECT current_setting('listen_addresses') AS address`)).toEqual([
    { address: '127.0.0.1' },
  ]);
  expect(await isEmbeddedServer(dataDir, url)).toBe(true);
  expect(await isEmbeddedServer(dataDir, 'postgres://a:1,b:2/chainstead')).toBe(false);
  const wrong = new URL(url);
  wrong.password = 'wrong';
  await expect(queryServer(wrong.href, sql`SELECT 1`)).rejects.toMatchObject({ code: '28P01' });
});

test('keeps as much log between checkpoints as the disk can spare', async () => {
  const { start, dataDir } = await openEmbeddedFolder(template);
  const { url } = await start();
  const { bavail, bsize } = await statfs(dataDir);
  const [row] = await queryServer(
    url,
    sql`SELECT setting::int AS megabytes FROM pg_settings WHERE name = 'max_wal_size'`,
  );
  const { megabytes } = row as { megabytes: number };
  expect(megabytes).toBeGreaterThanOrEqual(walMegabytes(bavail * bsize - OTHERS_WRITE));
  expect(megabytes).toBeLessThanOrEqual(walMegabytes(bavail * bsize + OTHERS_WRITE));
});

test('keeps its data and its port from one start to the next', async () => {
  const { start, dataDir, serverRuns } = await openEmbeddedFolder(template);
  const first = await start();
  await queryServer(first.url, sql`CREATE TABLE kept AS SELECT 7 AS n`);
  await first.stop();
  expect(await serverRuns()).toBe(false);
  const second = await start();
  expect(second.url).toBe(first.url);
  expect(await queryServer(second.url, sql`SELECT n FROM kept`)).toEqual([{ n: 7 }]);
  await second.stop();
  await truncate(join(dataDir, 'password'));
  await expect(start()).rejects.toMatchObject({
    code: 'EMBEDDED_POSTGRES_PASSWORD',
    message: expect.stringContaining(
      `The password file ${join(dataDir, 'password')} of the embedded Postgres is empty`,
    ),
  });
});

test('a first start, and a second, is told of without a warning', async () => {
  const { start } = await openEmbeddedFolder();
  for (const _ of [1, 2]) {
    const warn = vi.fn();
    const server = await start({ logger: { ...silentLogger(), warn } });
    expect(await queryServer(server.url, sql`SELECT 1 AS fine`)).toEqual([{ fine: 1 }]);
    expect(warn.mock.calls).toEqual([]);
    await server.stop();
  }
});

test.runIf(asRoot)('works for an ordinary user too', async ({ skip }) => {
  const closed = closedFolderAbove(import.meta.dirname);
  if (closed !== null) {
    process.stderr.write(`NOT RUN: the embedded server as an ordinary user, who can't enter ${closed}\n`);
    skip();
  }
  const account = pickAccount('nobody:x:65534:65534::/:\n');
  if (account === undefined) throw new Error('the line names an account');
  const { path, dataDir, startElsewhere, serverRuns } = await openEmbeddedFolder();
  await chmod(path, 0o755);
  await mkdir(dataDir, { recursive: true });
  await chown(dataDir, account.uid, account.gid);
  const { child, url } = await startElsewhere(account);
  expect(await queryServer(url, sql`SELECT current_setting('server_encoding') AS encoding`)).toEqual([
    { encoding: 'UTF8' },
  ]);
  child.stdin?.write('stop');
  await once(child, 'exit');
  expect(child.exitCode).toBe(0);
  expect(await serverRuns()).toBe(false);
});

/** Returns the first folder on the way to `path` that only its owner can enter; null if there is none. */
function closedFolderAbove(path: string): string | null {
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder))
    if ((statSync(folder).mode & 0o001) === 0) return folder;
  return null;
}
