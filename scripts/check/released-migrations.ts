import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A comparison of the migrations with those of earlier releases. */
export interface ReleasedMigrations {
  /** Release tags that were compared. */
  readonly tags: readonly string[];
  /** Sentences; empty if every released migration is as it was released. */
  readonly problems: readonly string[];
}

const FOLDER = 'migrations';
const RELEASE = /^v\d/;
/** A line of `git ls-tree`. */
const ENTRY = /^\d+ blob (\w+)\tmigrations\/([^/]+\.sql)$/gm;

/**
 * Compares each migration of each release tag (`v*`) with the file in the working tree. Databases record the text that they were migrated with, and
 * refuse another one. Without git or tags there is nothing to compare.
 * @param root of the repository
 */
export async function compareReleasedMigrations(root: string): Promise<ReleasedMigrations> {
  const tags = ((await git(root, ['tag', '--list', 'v*'])) ?? '').split('\n').filter((tag) => RELEASE.test(tag));
  if (tags.length === 0) return { tags, problems: [] };
  const present = await presentBlobs(root);
  const problems = new Map<string, string>();
  for (const tag of tags) {
    const tree = (await git(root, ['ls-tree', tag, `${FOLDER}/`])) ?? '';
    for (const [, blob = '', file = ''] of tree.matchAll(ENTRY)) {
      const now = present.get(file);
      if (now === blob) continue;
      problems.set(
        file,
        now === undefined
          ? `${FOLDER}/${file} is missing, but ${tag} contains it. Restore it`
          : `${FOLDER}/${file} differs from ${tag}. Restore it, and put the change into a new migration`,
      );
    }
  }
  return { tags, problems: [...problems.values()] };
}

/** The git hash of each migration in the working tree, by file name. */
async function presentBlobs(root: string): Promise<ReadonlyMap<string, string>> {
  const files = (await readdir(join(root, FOLDER))).filter((file) => file.endsWith('.sql'));
  const hashes = (await git(root, ['hash-object', ...files.map((file) => `${FOLDER}/${file}`)])) ?? '';
  return new Map(files.map((file, index) => [file, hashes.split('\n')[index] ?? '']));
}

/** @returns null without git, or outside of a git checkout */
async function git(root: string, args: readonly string[]): Promise<string | null> {
  try {
    return (await promisify(execFile)('git', args, { cwd: root })).stdout;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 128)) return null;
    throw error;
  }
}
