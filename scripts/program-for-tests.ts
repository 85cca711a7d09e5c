/**
 * Prints the folder of a bundle of the program, which is made if the sources have changed. Tests start it, because its processes begin in a quarter
 * of the time. `npm test` runs this before the tests, and a single test file when it first starts the program (tests/testkit/src/processes/program.ts).
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { listFiles, REPOSITORY_ROOT } from './check/source-files.ts';
import { bundleEverything } from './package/bundle-program.ts';

const FOLDER = join(REPOSITORY_ROOT, 'node_modules/.cache/chainstead-test-program');
const BIN = 'apps/chainstead/bin/chainstead.js';
/** Age of former sources that running tests may still need. Milliseconds. */
const KEPT_MS = 3 * 3_600_000;

await mkdir(FOLDER, { recursive: true });
const folder = join(FOLDER, await digestOfSources());
if (!(await isThere(folder))) await make(folder);
await removeFormer(folder);
console.log(folder);

/** Hash of all inputs of the bundle. */
async function digestOfSources(): Promise<string> {
  const digest = createHash('sha256');
  const sources = ['apps/*.ts', 'packages/*.ts', 'package-lock.json', '*package.json', BIN, 'scripts/**/*.ts'];
  for (const path of listFiles(...sources))
    if (!path.endsWith('.test.ts'))
      digest.update(`${path}\n`).update(await readFile(join(REPOSITORY_ROOT, path)));
  return digest.digest('hex').slice(0, 16);
}

/** Atomically, so that a concurrent run never sees half of it. */
async function make(folder: string): Promise<void> {
  const made = await mkdtemp(`${folder}-`);
  await bundleEverything(join(made, 'dist'));
  await cp(join(REPOSITORY_ROOT, BIN), join(made, 'bin/chainstead.js'));
  // What the program reads by its place lies where it is in the checkout.
  for (const name of await readdir(REPOSITORY_ROOT))
    if (!name.startsWith('.')) await symlink(join(REPOSITORY_ROOT, name), join(made, name));
  await rename(made, folder).catch(async (error: unknown) => {
    if (!(await isThere(folder))) throw error;
    await rm(made, { recursive: true });
  });
}

async function removeFormer(current: string): Promise<void> {
  for (const name of await readdir(FOLDER)) {
    const folder = join(FOLDER, name);
    if (folder !== current && Date.now() - (await stat(folder)).mtimeMs > KEPT_MS)
      await rm(folder, { recursive: true, force: true });
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
