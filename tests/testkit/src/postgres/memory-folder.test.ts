import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeAbandoned } from './memory-folder.ts';

test('folders of servers that no longer run are removed, those of others and of starting servers are kept', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'chainstead-folders-'));
  const dead = spawnSync(process.execPath, ['--version']).pid;
  const folderOf = async (name: string, pid: number | null): Promise<string> => {
    const folder = join(parent, name);
    await mkdir(join(folder, 'data'), { recursive: true });
    if (pid !== null) await writeFile(join(folder, 'data', 'postmaster.pid'), `${pid}\n${folder}\n`);
    return folder;
  };
  await folderOf('server-dead', dead);
  await folderOf('server-running', process.pid);
  await folderOf('server-starting', null);
  await folderOf('other-dead', dead);
  const hourAgo = new Date(Date.now() - 3_600_000);
  await utimes(await folderOf('server-never-started', null), hourAgo, hourAgo);
  await removeAbandoned(parent, 'server-');
  expect((await readdir(parent)).sort()).toEqual(['other-dead', 'server-running', 'server-starting']);
  await rm(parent, { recursive: true });
});
