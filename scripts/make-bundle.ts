/** Makes a bundle of the program and prints its folder, which has the layout of the published package. `find-bundle.js` runs this if the sources changed. */
import { createHash } from 'node:crypto';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join, relative } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { bundleEverything } from './package/bundle-program.ts';
import { workspaceOf } from './package/package-files.ts';

/** The same in find-bundle.js. */
const BUNDLES = join(REPOSITORY_ROOT, 'node_modules/.cache/chainstead-bundles');
const INPUTS = 'inputs.json';
const BIN = 'apps/chainstead/bin/chainstead.js';
/** Decide about packages and about the bundle itself. */
const OTHER_INPUTS = [
  ...['package-lock.json', 'node_modules/.package-lock.json', BIN],
  ...['scripts/make-bundle.ts', 'scripts/package/bundle-program.ts'],
];
/** Age of former bundles that running tests may still need. Milliseconds. */
const KEPT_MS = 3 * 3_600_000;

type Stamp = readonly [path: string, modifiedMs: number, bytes: number];

await mkdir(BUNDLES, { recursive: true });
// Next to the others, so that its links stay right when it is renamed.
const made = await mkdtemp(join(BUNDLES, 'unfinished-'));
// Readable by other users, as the checkout is.
await chmod(made, 0o755);
const folder = await make(made);
await removeFormer(folder);
console.log(folder);

/** Atomically: of two concurrent runs, both return the folder of the first that is done. */
async function make(made: string): Promise<string> {
  const others = await Promise.all(OTHER_INPUTS.map(stampOf));
  const sources = new Map<string, Stamp>();
  // Before a file is read: a change from then on is noticed at the next start.
  const outputs = await bundleEverything(join(made, 'dist'), async (path) => {
    sources.set(path, await stampOf(relative(REPOSITORY_ROOT, path)));
  });
  const manifests = new Set([...sources.values()].map(([path]) => `${workspaceOf(path)}/package.json`));
  const stamps = [...sources.values(), ...others, ...(await Promise.all([...manifests].map(stampOf)))];
  await cp(join(REPOSITORY_ROOT, BIN), join(made, 'bin/chainstead.js'));
  // What the program reads by its place lies where it is in the checkout.
  for (const name of await readdir(REPOSITORY_ROOT))
    if (!name.startsWith('.')) await symlink(relative(made, join(REPOSITORY_ROOT, name)), join(made, name));
  await writeFile(join(made, INPUTS), JSON.stringify(stamps));
  const folder = join(BUNDLES, await digestOf([...outputs, join(made, 'bin/chainstead.js')]));
  try {
    await rename(made, folder);
  } catch (error) {
    if (!(await isThere(folder))) throw error;
    // The same code, from files that were written again.
    await rename(join(made, INPUTS), join(folder, INPUTS));
    await rm(made, { recursive: true });
  }
  return folder;
}

async function stampOf(path: string): Promise<Stamp> {
  const { mtimeMs, size } = await stat(join(REPOSITORY_ROOT, path));
  return [path, mtimeMs, size];
}

async function digestOf(files: readonly string[]): Promise<string> {
  const digest = createHash('sha256');
  for (const file of files.toSorted()) digest.update(await readFile(file));
  return digest.digest('hex').slice(0, 16);
}

/** Running programs still load code from theirs. */
async function removeFormer(current: string): Promise<void> {
  for (const name of await readdir(BUNDLES)) {
    const folder = join(BUNDLES, name);
    // A concurrent run may have renamed its own.
    const { mtimeMs = Date.now() } = (await stat(folder).catch(() => null)) ?? {};
    if (folder === current || Date.now() - mtimeMs < KEPT_MS || (await isUsed(folder))) continue;
    await rm(folder, { recursive: true, force: true });
  }
}

/** `bin/chainstead.js` puts a file there for each process that runs the bundle. */
async function isUsed(folder: string): Promise<boolean> {
  const users = await readdir(join(folder, 'users')).catch(() => []);
  return users.some((pid) => {
    try {
      return process.kill(Number(pid), 0);
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EPERM';
    }
  });
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
