import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorText } from '@chainstead/core';

/** A program whose databases end with a migration as it is today. */
export interface MigrationCommit {
  readonly commit: string;
  /** `0019_partitioned_transfers`. */
  readonly last: string;
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const PROGRAM = 'apps/chainstead/src/main.ts';
/** Commits that are no whole program: what they import came with a later one. The last one before the next migration stands for them. */
const NOT_WHOLE = /^(?:ce3e2a7|8e54951)/;
const MIGRATION = /^\d+ blob (\w+)\tmigrations\/(\d{4}_[^/]+)\.sql$/gm;

/**
 * The commit that brought each state that a database of ours may be in, the oldest first. Several migrations that came with one commit are one state; so are
 * those that were still edited when they came: databases of these days can't be upgraded, and are not.
 * @returns why there are none, as a text: no history here, or a part of it
 */
export async function findMigrationCommits(): Promise<readonly MigrationCommit[] | string> {
  try {
    if ((await git('rev-parse', '--is-shallow-repository')).trim() === 'true')
      return 'this clone has only a part of the history: git fetch --unshallow';
    const present = new Map(await migrationsOf('HEAD'));
    const log = await git('log', '--reverse', '--topo-order', '--format=%H', '--', 'migrations');
    const commits = log.trim().split('\n');
    const found = new Map<string, string>();
    for (const [index, introducing] of commits.entries()) {
      const migrations = await migrationsOf(introducing);
      const [last] = migrations.at(-1) ?? [];
      const isAsToday = migrations.every(([name, blob]) => present.get(name) === blob);
      if (last === undefined || !isAsToday || found.has(last)) continue;
      const next = commits[index + 1];
      const commit = NOT_WHOLE.test(introducing) ? (await git('rev-parse', `${next}^`)).trim() : introducing;
      if (await hasProgram(commit)) found.set(last, commit);
    }
    return [...found].map(([last, commit]) => ({ commit, last }));
  } catch (error) {
    return `git tells no history of this tree: ${errorText(error)}`;
  }
}

/** By name, with the hash of its text. */
async function migrationsOf(commit: string): Promise<[name: string, blob: string][]> {
  const tree = await git('ls-tree', commit, 'migrations/');
  return [...tree.matchAll(MIGRATION)].map(([, blob = '', name = '']) => [name, blob]);
}

async function hasProgram(commit: string): Promise<boolean> {
  return (await git('ls-tree', '--name-only', commit, PROGRAM)) !== '';
}

async function git(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('git', [...args], { cwd: ROOT })).stdout;
}
