/** Makes a bundle of the program and prints its folder, which has the layout of the published package. `find-bundle.js` runs this if the sources changed. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, statSync } from 'node:fs';
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { bundleEverything } from './package/bundle-program.ts';

/** The same in find-bundle.js. */
const BUNDLES = join(REPOSITORY_ROOT, 'node_modules/.cache/chainstead-bundles');
const INPUTS = 'inputs.json';
const BIN = 'apps/chainstead/bin/chainstead.js';
const MANIFESTS = ['apps/*/package.json', 'packages/*/*/package.json'];
/** Decide about packages and about the bundle itself. Some are absent, as npm's files with another package manager. */
const OTHER_INPUTS = [
  ...['package-lock.json', 'node_modules/.package-lock.json', 'tsconfig.json', BIN],
  ...['scripts/make-bundle.ts', 'scripts/package/bundle-program.ts'],
];
/** Age of former bundles that running tests may still need. Milliseconds. */
const KEPT_MS = 3 * 3_600_000;
const UNFINISHED = 'unfinished-';

type Stamp = readonly [path: string, stamp: string];

try {
  const folder = await make();
  console.log(folder);
  await removeFormer(folder);
} catch (error) {
  console.error(`not bundled: ${lineOf(error)}; running the sources`);
  process.exitCode = 1;
}

/** Atomically: of two concurrent runs, both return the folder of the first that is done. */
async function make(): Promise<string> {
  await mkdir(BUNDLES, { recursive: true });
  // Next to the others, so that its links stay right when it is renamed.
  const made = await mkdtemp(join(BUNDLES, UNFINISHED));
  try {
    return await publish(made, await fill(made));
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

/** @returns paths of its files and links, relative to the folder */
async function fill(made: string): Promise<string[]> {
  // Before a file is read: a change from then on is noticed at the next start.
  const others = [...OTHER_INPUTS, ...globSync(MANIFESTS, { cwd: REPOSITORY_ROOT })].map(stampOf);
  const sources = new Map<string, Stamp>();
  const bundled = await bundleEverything(join(made, 'dist'), async (path) => {
    sources.set(path, stampOf(relative(REPOSITORY_ROOT, path)));
  });
  await cp(join(REPOSITORY_ROOT, BIN), join(made, 'bin/chainstead.js'));
  const paths = ['bin/chainstead.js', ...bundled.map((path) => relative(made, path))];
  // What the program reads by its place lies where it is in the checkout.
  for (const name of await readdir(REPOSITORY_ROOT)) {
    if (name.startsWith('.')) continue;
    await symlink(relative(made, join(REPOSITORY_ROOT, name)), join(made, name));
    paths.push(name);
  }
  const outputs = await Promise.all(
    paths.map(async (path) => [path, (await lstat(join(made, path))).size] as const),
  );
  await writeFile(join(made, INPUTS), JSON.stringify({ inputs: [...sources.values(), ...others], outputs }));
  await chmod(made, 0o755);
  return paths;
}

async function publish(made: string, paths: readonly string[]): Promise<string> {
  const files = paths.filter((path) => dirname(path) !== '.').map((path) => join(made, path));
  const folder = join(BUNDLES, await digestOf(files));
  try {
    await rename(made, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    // The same code, from files that were written again or because some of the bundle is missing.
    for (const path of [...paths, INPUTS]) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await rename(join(made, path), join(folder, path));
    }
  }
  const users = join(folder, 'users');
  await mkdir(users, { recursive: true });
  // Other users run the checkout too, as a service does: each registers its processes there.
  await chmod(users, 0o1777);
  return folder;
}

/** The same in find-bundle.js. */
function stampOf(path: string): Stamp {
  const found = statSync(join(REPOSITORY_ROOT, path), { throwIfNoEntry: false });
  return [path, found === undefined ? '' : `${found.mtimeMs} ${found.ctimeMs} ${found.size}`];
}

async function digestOf(files: readonly string[]): Promise<string> {
  const digest = createHash('sha256');
  for (const file of files.toSorted()) digest.update(await readFile(file));
  return digest.digest('hex').slice(0, 16);
}

/** A bundle is removed if it is hours old and no running process is registered in it: running programs still load code from theirs. */
async function removeFormer(current: string): Promise<void> {
  for (const name of await readdir(BUNDLES)) {
    const folder = join(BUNDLES, name);
    // A concurrent run may have renamed its own.
    const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (folder === current || Date.now() - made < KEPT_MS || isUsed(folder)) continue;
    await removeFolder(name).catch((error: unknown) => console.error(`${folder} stays: ${lineOf(error)}`));
  }
}

/** Renamed first, so that no process takes one that is half removed. */
async function removeFolder(name: string): Promise<void> {
  const removed = name.startsWith(UNFINISHED) ? name : `${UNFINISHED}${name}-${process.pid}`;
  if (removed !== name) await rename(join(BUNDLES, name), join(BUNDLES, removed));
  await rm(join(BUNDLES, removed), { recursive: true, force: true });
}

/** `bin/chainstead.js` puts a file there for each process that runs the bundle. */
function isUsed(folder: string): boolean {
  const users = join(folder, 'users');
  if (!existsSync(users)) return false;
  return readdirSync(users).some((pid) => {
    try {
      return process.kill(Number(pid), 0);
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EPERM';
    }
  });
}

function lineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ');
}
