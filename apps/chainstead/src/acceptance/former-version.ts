import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ChainsteadError, errorText } from '@chainstead/core';
import { type CheckedOutProgram, checkOutProgram } from '@chainstead/testkit';

/** The program as it was before the newest migrations, ready to be started. */
export interface FormerVersion extends CheckedOutProgram {
  readonly commit: string;
  /** How many migrations it knows. */
  readonly migrations: number;
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const JOURNAL = 'migrations/meta/_journal.json';
const run = promisify(execFile);

/**
 * Checks out the commit that brought the migrations before the newest ones.
 * @returns why there is none, as a text: no history here, or no registry
 */
export async function checkOutFormerVersion(): Promise<FormerVersion | string> {
  const found = await findFormerCommit();
  if (typeof found === 'string') return found;
  const { commit } = found;
  try {
    const program = await checkOutProgram(commit);
    const journal = JSON.parse(await readFile(join(program.folder, JOURNAL), 'utf8')) as {
      readonly entries: readonly object[];
    };
    return { ...program, commit, migrations: journal.entries.length };
  } catch (error) {
    if (!(error instanceof ChainsteadError)) throw error;
    return `${commit.slice(0, 7)} can't be had: ${error.message}`;
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
