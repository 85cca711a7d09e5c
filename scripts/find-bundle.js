/**
 * The bundle of a checkout's program, which is made again when a file that it was made of has changed. `chainstead` of a checkout and tests run it: a
 * process begins in a quarter of the processor time. As a script, prints its folder. Plain JavaScript, because an old system Node reads it.
 */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, 'node_modules');
/** The same in scripts/make-bundle.ts. */
const BUNDLES = join(MODULES, '.cache/chainstead-bundles');
const INPUTS = 'inputs.json';

/** Finds the bundle for this process, which uses it until its end. @returns as {@link findBundle} */
export function useBundle() {
  const folder = findBundle();
  if (folder === null) return null;
  const user = join(folder, 'users', String(process.pid));
  try {
    mkdirSync(dirname(user), { recursive: true });
    writeFileSync(user, '');
    process.on('exit', () => rmSync(user, { force: true }));
  } catch (error) {
    // Another user's checkout: its bundles stay for hours, and this process loads most of its code in seconds.
    if (isWritable(folder)) throw error;
  }
  return folder;
}

/**
 * @returns {string | null} the bundle's folder; null if none can be made, as without development dependencies: the sources run then
 */
export function findBundle() {
  const names = existsSync(BUNDLES) ? readdirSync(BUNDLES).filter((name) => !name.startsWith('unfinished-')) : [];
  const fresh = names.map((name) => join(BUNDLES, name)).find(isFresh);
  if (fresh !== undefined) return fresh;
  if (!existsSync(join(MODULES, 'esbuild')) || !isWritable(MODULES)) return null;
  process.stderr.write('Bundling the sources, which have changed …\n');
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'scripts/make-bundle.ts')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return status === 0 ? stdout.trim() : null;
}

/** A file counts as unchanged if its time and size are: reading 2,000 files would take longer than most commands. */
function isFresh(folder) {
  const record = join(folder, INPUTS);
  if (!existsSync(record)) return false;
  return JSON.parse(readFileSync(record, 'utf8')).every(([path, modifiedMs, bytes]) => {
    const found = statSync(join(ROOT, path), { throwIfNoEntry: false });
    return found !== undefined && found.mtimeMs === modifiedMs && found.size === bytes;
  });
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = findBundle();
  if (folder === null) process.exitCode = 1;
  else console.log(folder);
}
