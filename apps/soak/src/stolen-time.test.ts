import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { watchStolenTime } from './stolen-time.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-stat-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('is the share since the call before', async () => {
  const path = join(folder, 'stat');
  const tell = (idle: number, steal: number): Promise<void> =>
    writeFile(path, `cpu  100 0 50 ${idle} 10 0 5 ${steal} 7 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n`);
  await tell(1_000, 20);
  const stolen = await watchStolenTime(path);
  await tell(1_060, 60);
  expect(await stolen()).toBe(0.4);
  await tell(1_160, 60);
  expect(await stolen()).toBe(0);
});

it('is not known where the machine does not tell', async () => {
  const stolen = await watchStolenTime(join(folder, 'none'));
  expect(await stolen()).toBeNull();
});
