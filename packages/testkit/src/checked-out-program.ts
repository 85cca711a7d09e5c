import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorText } from '@chainstead/core';
import { TestkitError } from './testkit-error.ts';

/** The program of an earlier commit, ready to be started. */
export interface CheckedOutProgram {
  /** The tree of the commit. */
  readonly folder: string;
  /** Its `chainstead.js`. */
  readonly entry: string;
  remove(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const OWN_PACKAGES = '@chainstead';
const run = promisify(execFile);

/**
 * Checks a commit out into a folder of its own, with the dependencies that are installed here, and from the registry those that this tree has no
 * more. @throws {TestkitError} where git does not have the commit, or the registry not the dependencies
 */
export async function checkOutProgram(commit: string): Promise<CheckedOutProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-former-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await unpack(commit, folder);
    const missing = await linkDependencies(folder);
    if (missing.length > 0) await install(folder, missing);
    return { folder, entry: join(folder, 'apps/chainstead/bin/chainstead.js'), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function unpack(commit: string, folder: string): Promise<void> {
  const archive = join(folder, 'tree.tar');
  try {
    await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
  } catch (error) {
    throw new TestkitError(
      `git has no commit ${commit}, which takes a clone with its whole history: ${errorText(error)}`,
    );
  }
  await run('tar', ['-xf', archive, '-C', folder]);
  await rm(archive);
}

/** Its own workspaces, and everything else from this tree. @returns dependencies that this tree does not have, as `name@version` */
async function linkDependencies(folder: string): Promise<string[]> {
  const shared = join(ROOT, 'node_modules');
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, OWN_PACKAGES), { recursive: true });
  for (const name of await readdir(shared))
    if (name !== OWN_PACKAGES) await symlink(join(shared, name), join(modules, name));
  const locked = await lockedVersions(folder);
  const missing = new Set<string>();
  for (const group of ['packages', 'apps'])
    for (const workspace of await readdir(join(folder, group))) {
      const own = join(folder, group, workspace);
      const { name, dependencies = {} } = await readJson<Manifest>(join(own, 'package.json'));
      if (isOwn(name)) await symlink(own, join(modules, name));
      for (const [dependency, range] of Object.entries(dependencies))
        if (!isOwn(dependency) && !(await exists(join(modules, dependency))))
          missing.add(`${dependency}@${locked(dependency) ?? range}`);
    }
  return [...missing];
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The versions that the commit was tested with. */
async function lockedVersions(folder: string): Promise<(dependency: string) => string | undefined> {
  const { packages } = await readJson<{ readonly packages: Readonly<Record<string, { readonly version?: string }>> }>(
    join(folder, 'package-lock.json'),
  );
  return (dependency) => packages[`node_modules/${dependency}`]?.version;
}

/** Installs packages, given as `name@version`, beside the linked ones. */
async function install(folder: string, packages: readonly string[]): Promise<void> {
  const own = join(folder, 'installed');
  await mkdir(own);
  try {
    await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', own, ...packages]);
  } catch (error) {
    throw new TestkitError(
      `${packages.join(', ')}, which it depends on, can't be had from the registry: ${errorText(error)}`,
    );
  }
  for (const name of await readdir(join(own, 'node_modules'))) {
    const link = join(folder, 'node_modules', name);
    if (!name.startsWith('.') && !(await exists(link))) await symlink(join(own, 'node_modules', name), link);
  }
}

function isOwn(name: string): boolean {
  return name.startsWith(`${OWN_PACKAGES}/`);
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
