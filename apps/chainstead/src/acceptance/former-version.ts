import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorText } from '@chainstead/core';

/** The program as it was before the newest migrations, ready to be started. */
export interface FormerVersion {
  readonly commit: string;
  /** `chainstead.js` of it. */
  readonly entry: string;
  /** How many migrations it knows. */
  readonly migrations: number;
  remove(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const JOURNAL = 'migrations/meta/_journal.json';
const run = promisify(execFile);

/**
 * Checks out the commit that brought the migrations before the newest ones, with the dependencies of this tree, and from the registry those that
 * this tree has no more.
 * @returns why there is none, as a text: no history here, or no registry
 */
export async function checkOutFormerVersion(): Promise<FormerVersion | string> {
  const found = await findFormerCommit();
  if (typeof found === 'string') return found;
  const { commit } = found;
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-former-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, 'tree.tar');
    await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
    await run('tar', ['-xf', archive, '-C', folder]);
    const missing = await linkDependencies(folder);
    const refusal = missing.length === 0 ? null : await install(folder, missing);
    if (refusal !== null) {
      await remove();
      return `${commit.slice(0, 7)} depends on ${missing.join(', ')}, which can not be had from the registry now: ${refusal}`;
    }
    const journal = JSON.parse(await readFile(join(folder, JOURNAL), 'utf8')) as {
      readonly entries: readonly object[];
    };
    const entry = join(folder, 'apps/chainstead/bin/chainstead.js');
    return { commit, entry, migrations: journal.entries.length, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The second newest commit that changed the list of migrations, whole; a text says why there is none. */
async function findFormerCommit(): Promise<{ readonly commit: string } | string> {
  try {
    const { stdout } = await run('git', ['log', '-2', '--format=%H', '--', JOURNAL], { cwd: ROOT });
    const commit = stdout.split('\n')[1] ?? '';
    return commit === '' ? 'the history of this checkout does not reach behind its newest migration' : { commit };
  } catch (error) {
    // No checkout of git, or no git: the test says that it did not run.
    return `git tells no history of this tree: ${errorText(error)}`;
  }
}

/** Installs packages, given as `name@version`, beside the linked ones. @returns why that failed; null where it did not */
async function install(folder: string, packages: readonly string[]): Promise<string | null> {
  const own = join(folder, 'installed');
  await mkdir(own);
  try {
    await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', own, ...packages]);
  } catch (error) {
    // The test says that it did not run, and why.
    return errorText(error);
  }
  for (const name of await readdir(join(own, 'node_modules'))) {
    const link = join(folder, 'node_modules', name);
    if (!name.startsWith('.') && !(await exists(link))) await symlink(join(own, 'node_modules', name), link);
  }
  return null;
}

/** Its own workspaces, and everything else from this tree. @returns dependencies that this tree does not have, as `name@version` */
async function linkDependencies(folder: string): Promise<string[]> {
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, '@chainstead'), { recursive: true });
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (name !== '@chainstead') await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  const missing = new Set<string>();
  for (const group of ['packages', 'apps'])
    for (const workspace of await readdir(join(folder, group))) {
      const own = join(folder, group, workspace);
      const { name, dependencies = {} } = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as {
        readonly name: string;
        readonly dependencies?: Readonly<Record<string, string>>;
      };
      if (name.startsWith('@chainstead/')) await symlink(own, join(modules, name));
      for (const dependency of Object.keys(dependencies))
        if (!dependency.startsWith('@chainstead/') && !(await exists(join(modules, dependency))))
          missing.add(dependency);
    }
  return [...missing];
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
