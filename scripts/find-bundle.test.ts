/** The command of a checkout, with the smallest program. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { REPOSITORY_ROOT } from './check/source-files.ts';

const COPIED = [
  ...['apps/chainstead/bin', 'apps/chainstead/package.json', 'package.json', 'package-lock.json'],
  ...['scripts/find-bundle.js', 'scripts/make-bundle.ts', 'scripts/check/source-files.ts'],
  ...['scripts/package/bundle-program.ts', 'node_modules/.package-lock.json'],
];
const OTHER_ENTRIES = [
  ...['role-process', 'backfill-process', 'signer-process'].map((name) => `apps/chainstead/src/${name}.ts`),
  'packages/products/graphql/src/thread/graphql-thread.ts',
];
const MAIN = 'apps/chainstead/src/main.ts';
const BUNDLES = 'node_modules/.cache/chainstead-bundles';
const BUNDLING = 'Bundling the sources, which have changed …\n';
const DAY_MS = 24 * 3_600_000;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chainstead-checkout-'));
  for (const path of COPIED) cpSync(join(REPOSITORY_ROOT, path), join(folder, path), { recursive: true });
  for (const path of OTHER_ENTRIES) write(path, 'export {};');
  write(MAIN, program('first'));
  symlinkSync(join(REPOSITORY_ROOT, 'node_modules/esbuild'), join(folder, 'node_modules/esbuild'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('bundles the sources at the first start, and again only after a change', async () => {
  expect(await run()).toEqual(['first bundle\n', BUNDLING]);
  expect(await run()).toEqual(['first bundle\n', '']);
  write(MAIN, program('second'));
  expect(await run()).toEqual(['second bundle\n', BUNDLING]);
  expect(await run()).toEqual(['second bundle\n', '']);
});

it('starts twice concurrently, with one bundle', async () => {
  const outcomes = await Promise.all([run(), run()]);
  expect(outcomes.map(([output]) => output)).toEqual(['first bundle\n', 'first bundle\n']);
  expect(bundles()).toHaveLength(1);
});

it('runs the sources if the bundler is not installed', async () => {
  rmSync(join(folder, 'node_modules/esbuild'));
  expect(await run()).toEqual(['first sources\n', '']);
});

it('runs the sources if they can not be bundled, and reports why', async () => {
  write(OTHER_ENTRIES[0] ?? '', 'this is no program');
  const [output, errors] = await run();
  expect(output).toBe('first sources\n');
  expect(errors).toMatch(/^not bundled: .*role-process\.ts.*; running the sources$/m);
  expect(errors.trimEnd().split('\n')).toHaveLength(2);
  expect(bundles()).toEqual([]);
});

it.each([
  ['a source of the same size and modification time', () => copyOver(MAIN, program('other'))],
  ['a manifest', () => write('apps/chainstead/package.json', '{ "type": "module", "private": true }')],
  ['the compiler options', () => write('tsconfig.json', '{}')],
])('bundles again after a change of %s', async (_, change) => {
  await run();
  change();
  expect((await run())[1]).toBe(BUNDLING);
});

it.each([
  ['record is empty', 'inputs.json', ''],
  ['program is empty', 'dist/main.js', ''],
  ['program is missing', 'dist', null],
  ['link is missing', 'packages', null],
])('repairs a bundle whose %s', async (_, path, content) => {
  await run();
  const [name = ''] = bundles();
  if (content === null) rmSync(join(folder, BUNDLES, name, path), { recursive: true });
  else write(join(BUNDLES, name, path), content);
  expect(await run()).toEqual(['first bundle\n', BUNDLING]);
  expect(await run()).toEqual(['first bundle\n', '']);
  expect(bundles()).toEqual([name]);
});

it('removes an old bundle once no process runs it', async () => {
  write(MAIN, `${program('first')} process.stdin.resume();`);
  const running = start();
  await once(running.stdout, 'data');
  const [former = ''] = bundles();
  const age = (): void => {
    const longAgo = new Date(Date.now() - DAY_MS);
    utimesSync(join(folder, BUNDLES, former), longAgo, longAgo);
  };
  age();
  write(MAIN, program('second'));
  await run();
  expect(bundles()).toContain(former);
  running.stdin.end();
  await once(running, 'exit');
  age();
  write(MAIN, program('third'));
  await run();
  expect(bundles()).not.toContain(former);
});

function program(name: string): string {
  return `console.log('${name}', new Error().stack?.includes('/dist/main.js') ? 'bundle' : 'sources');`;
}

function write(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

/** As `cp -p` does. */
function copyOver(path: string, content: string): void {
  const { atime, mtime } = statSync(join(folder, path));
  write(path, content);
  utimesSync(join(folder, path), atime, mtime);
}

function bundles(): string[] {
  return readdirSync(join(folder, BUNDLES));
}

function start() {
  const { PATH, HOME, TMPDIR } = process.env;
  return spawn(process.execPath, [join(folder, 'apps/chainstead/bin/chainstead.js')], {
    env: { PATH, HOME, TMPDIR },
  });
}

async function run(): Promise<[output: string, errors: string]> {
  const child = start();
  child.stdin.end();
  return Promise.all([text(child.stdout), text(child.stderr)]);
}
