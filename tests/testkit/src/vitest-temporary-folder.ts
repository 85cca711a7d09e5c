import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Caches that runs share: V8's compiled code and compiled contracts (compile-solidity.ts). */
const SHARED = ['node-compile-cache', `chainstead-solidity-${userInfo().uid}`];

/**
 * Vitest's global set-up: the tests, and the programs that they start, put their temporary files into one folder per run.
 * @returns the tear-down, which removes the folder
 */
export default async function setUpTemporaryFolder(): Promise<() => Promise<void>> {
  const shared = tmpdir();
  const folder = await mkdtemp(join(shared, 'chainstead-tests-'));
  // As root, Postgres runs as another account, which must enter the folder.
  await chmod(folder, 0o755);
  for (const name of SHARED) {
    await mkdir(join(shared, name), { recursive: true, mode: 0o700 });
    await symlink(join(shared, name), join(folder, name));
  }
  process.env.TMPDIR = folder;
  return async () => {
    process.env.TMPDIR = shared;
    await rm(folder, { recursive: true, force: true });
  };
}
