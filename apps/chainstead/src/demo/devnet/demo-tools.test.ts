import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@chainstead/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { installDemoTools } from './demo-tools.ts';

let place: string;
let list: string;
let lines: string[];

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'chainstead-demo-tools-'));
  list = join(place, 'list');
  lines = [];
  await mkdir(list);
});
afterEach(() => rm(place, { recursive: true, force: true }));

const caches = (): string => join(place, 'cache', 'chainstead');
const environment = (variables: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: place,
  XDG_CACHE_HOME: join(place, 'cache'),
  npm_config_update_notifier: 'false',
  npm_config_fetch_retries: '0',
  ...variables,
});
const install = (variables?: Readonly<Record<string, string>>): Promise<void> =>
  installDemoTools({ report: (line) => lines.push(line), list, environment: environment(variables) });

async function writeList(dependencies: Readonly<Record<string, string>>): Promise<void> {
  const root = { name: 'tools', version: '1.0.0', dependencies };
  const locked = Object.entries(dependencies).map(([name, version]) => [
    `node_modules/${name}`,
    { version, integrity: `sha512-${'A'.repeat(86)}==` },
  ]);
  const packages = { '': root, ...Object.fromEntries(locked) };
  await writeFile(join(list, 'package.json'), JSON.stringify(root));
  await writeFile(join(list, 'npm-shrinkwrap.json'), JSON.stringify({ ...root, lockfileVersion: 3, packages }));
}

it('installs a list into the cache folder once, with one line of progress', async () => {
  await writeList({});
  await install();
  await install();
  const [folder, ...others] = await readdir(caches());
  expect(folder).toMatch(/^demo-tools-[0-9a-f]{16}$/);
  expect(others).toEqual([]);
  expect(lines).toEqual([expect.stringContaining(`to ${join(caches(), String(folder))}`)]);
});

it('names the remedy if the registry is unreachable, and leaves no folder', async () => {
  await writeList({ 'some-tool': '1.0.0' });
  const registry = `http://127.0.0.1:${await freePort()}/`;
  await expect(install({ npm_config_registry: registry })).rejects.toMatchObject({
    message: expect.stringMatching(/^Could not download the demo's tools .*ECONNREFUSED/),
    remedy: expect.stringContaining('npm ping'),
  });
  expect(await readdir(caches())).toEqual([]);
});

it('does nothing in a checkout', async () => {
  await installDemoTools({ report: (line) => lines.push(line), environment: environment() });
  expect(lines).toEqual([]);
  expect(existsSync(caches())).toBe(false);
});
