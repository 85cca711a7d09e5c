import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { copyMigrations, programToStart } from '@chainstead/testkit';

import type { CommandOutcome } from './captured-context.ts';

/** The program as its next version would be: with more migrations, and otherwise as it is. For tests. */
export interface NextVersion {
  /** Its `chainstead.js`. */
  readonly entry: string;
  /** Adds a migration, or replaces the text of one. @param name `0001_next` */
  writeMigration(name: string, text: string): Promise<void>;
  /** Runs a command to its end. */
  run(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<CommandOutcome>;
  remove(): Promise<void>;
}

/** The bundle is copied, because it finds its migrations by its own place. */
const COPIED = ['bin', 'dist'];
const MIGRATIONS = 'migrations';

/** Makes a next version of the program in a temporary folder. */
export async function makeNextVersion(): Promise<NextVersion> {
  const present = dirname(dirname(programToStart().entry));
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-next-'));
  for (const name of await readdir(present)) {
    if (COPIED.includes(name)) await cp(join(present, name), join(folder, name), { recursive: true });
    else if (name !== MIGRATIONS) await symlink(join(present, name), join(folder, name));
  }
  await mkdir(join(folder, MIGRATIONS));
  const migrations = await copyMigrations(join(folder, MIGRATIONS));
  const entry = join(folder, 'bin/chainstead.js');
  return {
    entry,
    writeMigration: migrations.write,
    run: (args, environment) =>
      new Promise((resolve) => {
        const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment };
        execFile(process.execPath, [entry, ...args], { env }, (error, stdout, stderr) => {
          resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr });
        });
      }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
