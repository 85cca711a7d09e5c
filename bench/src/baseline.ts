import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BenchmarkError } from './benchmark-error.ts';

/** The state that answers are held against: before statements were prepared. */
export const BASELINE_COMMIT = '9ee75c6';

/** The program of an earlier commit, checked out beside this one. */
export interface Baseline {
  /** As `chainstead-program.ts` starts it. */
  readonly program: string;
  remove(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OWN_PACKAGES = '@chainstead';

/**
 * Checks the baseline out into a folder of its own. It shares the installed dependencies, and takes the migrations of this
 * checkout for its own, since it serves databases of this one's schema. @throws {BenchmarkError} where git doesn't have the commit
 */
export async function checkOutBaseline(): Promise<Baseline> {
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-baseline-'));
  const remove = async (): Promise<void> => {
    await git('worktree', 'remove', '--force', folder).catch(() => rm(folder, { recursive: true, force: true }));
    await git('worktree', 'prune');
  };
  try {
    await git('worktree', 'add', '--detach', '--force', folder, BASELINE_COMMIT);
    await linkDependencies(folder);
    await rm(join(folder, 'migrations'), { recursive: true });
    await cp(join(ROOT, 'migrations'), join(folder, 'migrations'), { recursive: true });
    return { program: join(folder, 'apps/chainstead/bin/chainstead.js'), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function linkDependencies(folder: string): Promise<void> {
  const shared = join(ROOT, 'node_modules');
  const own = join(folder, 'node_modules');
  await mkdir(join(own, OWN_PACKAGES), { recursive: true });
  for (const name of await readdir(shared))
    if (name !== OWN_PACKAGES) await symlink(join(shared, name), join(own, name));
  for (const name of await readdir(join(folder, 'packages')))
    await symlink(join(folder, 'packages', name), join(own, OWN_PACKAGES, name));
}

async function git(...args: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)('git', [...args], { cwd: ROOT });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BenchmarkError(`git ${args.join(' ')} failed; a clone needs its whole history for that: ${reason}`);
  }
}
