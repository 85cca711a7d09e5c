/**
 * The bundle of a checkout's program, which is made again when a file that it was made of has changed. `chainstead` of a checkout and tests run it: a
 * process begins in a quarter of the processor time. As a script, prints its folder. Plain JavaScript, because an old system Node reads it.
 */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
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
  } catch {
    // A full disk or a read-only checkout. Its bundles stay for hours, and this process loads most of its code in seconds.
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

/** A file counts as unchanged if its times and size are: reading 2,000 files would take longer than most commands. */
function isFresh(folder) {
  try {
    const { inputs, outputs } = JSON.parse(readFileSync(join(folder, INPUTS), 'utf8'));
    return (
      inputs.every(([path, stamp]) => stampOf(join(ROOT, path)) === stamp) &&
      outputs.every(([path, bytes]) => lstatSync(join(folder, path)).size === bytes)
    );
  } catch {
    // Incomplete after a power failure, removed concurrently, or made by another version of this file.
    return false;
  }
}

/** The same in scripts/make-bundle.ts. Copying tools keep the time of modification, but not the other. */
function stampOf(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.ctimeMs} ${found.size}`;
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
