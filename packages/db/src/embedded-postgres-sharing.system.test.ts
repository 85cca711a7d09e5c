/** Several starts of the embedded server in one folder. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  askServer,
  createEmbeddedTemplate,
  type EmbeddedTemplate,
  openEmbeddedFolder,
} from './testing/embedded-folder.ts';

let template: EmbeddedTemplate;

beforeAll(async () => {
  template = await createEmbeddedTemplate();
});
afterAll(() => template?.remove());

test('is shared by two starts in one folder, and stops with the first', async () => {
  const { start } = await openEmbeddedFolder(template);
  const first = await start();
  const second = await start();
  expect(second.url).toBe(first.url);
  await second.stop();
  expect(await askServer(first.url, 'SELECT 1 AS fine')).toEqual([{ fine: 1 }]);
});

test('two starts at the same moment in an empty folder end with one server', async () => {
  const { start, dataDir } = await openEmbeddedFolder();
  const [first, second] = await Promise.all([start(), start()]);
  expect(await askServer(first.url, 'SELECT 1 AS fine')).toEqual([{ fine: 1 }]);
  expect(second.url).toBe(first.url);
  expect((await readdir(dataDir)).toSorted()).toEqual(['data', 'owner', 'password', 'superuser-password']);
});

test('a server that lost its process is taken over, and stopped', async () => {
  const { start, dataDir, serverRuns } = await openEmbeddedFolder(template);
  const first = await start();
  await writeFile(join(dataDir, 'owner'), '999999999\n');
  const second = await start();
  expect(second.url).toBe(first.url);
  await second.stop();
  expect(await serverRuns()).toBe(false);
});

test('a lock file that names some other process is no obstacle', async () => {
  const { start, dataDir } = await openEmbeddedFolder(template);
  const first = await start();
  await first.stop();
  const text = [process.pid, '/somewhere', '1', '1', '', '127.0.0.1', '  0  0', 'ready   ', ''].join('\n');
  await writeFile(join(dataDir, 'data', 'postmaster.pid'), text);
  const second = await start();
  expect(await askServer(second.url, 'SELECT 1 AS fine')).toEqual([{ fine: 1 }]);
});
