/** The `.env` of the current folder: which settings count, and when it is not read. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-env-'));
  await writeFile(join(folder, '.env'), 'CHAINS=eth\nPORT=9001\nHOST=::1\nPOSTGRES_PASSWORD=of-compose\n');
  await writeFile(join(folder, 'other.env'), 'CHAINS=eth\nPORT=9002\n');
});
afterAll(() => rm(folder, { recursive: true }));

async function print(environment: Record<string, string>, ...args: readonly string[]) {
  const { exitCode, stdout, stderr } = await runCaptured([...args, 'config', 'print'], environment, folder);
  expect(exitCode).toBe(0);
  return { port: /^PORT=.*$/m.exec(stdout)?.[0], host: /^HOST=.*$/m.exec(stdout)?.[0], stderr };
}

test('the .env of the current folder is read and named once, and the environment wins', async () => {
  const file = join(folder, '.env');
  expect(await print({ PORT: '9003' })).toEqual({
    ...{ port: 'PORT=9003  # environment', host: `HOST=::1  # ${file}` },
    stderr: `Settings: the environment, then ${file}\n`,
  });
});

test.each([
  ['--config names another file', {}, ['--config', 'other.env'], 'PORT=9002'],
  ['CHAINSTEAD_CONFIG names another file', { CHAINSTEAD_CONFIG: 'other.env' }, [], 'PORT=9002'],
  ['CHAINSTEAD_CONFIG is empty', { CHAINSTEAD_CONFIG: '' }, [], 'PORT=8080'],
])('the .env is not read if %s', async (_case, environment, args, port) => {
  const named = (text: string): string => (text === 'other.env' ? join(folder, text) : text);
  const variables = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, named(value)]));
  const printed = await print(variables, ...args.map(named));
  expect([printed.port?.split(' ')[0], printed.stderr]).toEqual([port, '']);
});

test('a folder without a .env adds no settings', async () => {
  const { stderr } = await runCaptured(['config', 'print'], {}, join(folder, 'missing'));
  expect(stderr).toBe('');
});
