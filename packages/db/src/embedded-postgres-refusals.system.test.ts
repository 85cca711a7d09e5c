/** An embedded server that can't be started says why. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEmbeddedFolder } from './testing/embedded-folder.ts';

test('a setting that the server refuses is named in the error', async () => {
  const { start, serverRuns } = await openEmbeddedFolder();
  await expect(start({ settings: { fsync: 'off', no_such_setting: '1' } })).rejects.toMatchObject({
    code: 'EMBEDDED_POSTGRES_START',
    message: expect.stringContaining('no_such_setting'),
  });
  expect(await serverRuns()).toBe(false);
});

test('a folder that cannot be made is named in the error', async () => {
  const { start, path } = await openEmbeddedFolder();
  await writeFile(join(path, 'file'), '');
  const dataDir = join(path, 'file', 'state');
  await expect(start({ dataDir })).rejects.toMatchObject({
    code: 'EMBEDDED_POSTGRES_FOLDER',
    message: expect.stringContaining(dataDir),
  });
});

test('a port that is taken is named in the error', async () => {
  const { start, path } = await openEmbeddedFolder();
  const first = await start();
  const port = Number(new URL(first.url).port);
  await expect(start({ dataDir: join(path, 'other'), port })).rejects.toMatchObject({
    code: 'EMBEDDED_POSTGRES_START',
    message: expect.stringContaining('Address already in use'),
  });
});
