import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FOLDER = 'migrations';

/** The SHA-256 of each migration's text by name. Grows only; from the repository's root. */
export const FROZEN_MIGRATIONS = `${FOLDER}/frozen.json`;

type Hashes = Readonly<Record<string, string>>;

/** The list with the migrations that it lacks; what it has stays as it is. @param root of the repository */
export async function renderFrozenMigrations(root: string): Promise<string> {
  const all = { ...(await readMigrationHashes(root)), ...(await readFrozen(root)) };
  const sorted = Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify(sorted, null, 2)}\n`;
}

/**
 * Migrations whose text is not what it was when they came in: compared with the list, and the list with every earlier
 * state of itself that git knows. Without git, or in a shallow clone, what is there is compared.
 * @param root of the repository
 * @returns sentences; empty when all is well
 */
export async function findEditedMigrations(root: string): Promise<string[]> {
  const [present, frozen] = [await readMigrationHashes(root), await readFrozen(root)];
  const edited = Object.keys(frozen)
    .filter((name) => present[name] !== frozen[name])
    .map((name) =>
      present[name] === undefined
        ? `${name}.sql is gone: databases that were migrated with it could not be opened any more`
        : `${name}.sql was edited: restore it, and put the change into a new migration`,
    );
  const rewritten = new Map<string, string>();
  for (const { commit, hashes } of await readEarlierLists(root)) {
    for (const [name, hash] of Object.entries(hashes))
      if (frozen[name] !== hash) rewritten.set(name, `${FROZEN_MIGRATIONS} has another ${name} than in ${commit}`);
  }
  return [...edited, ...rewritten.values()];
}

async function readMigrationHashes(root: string): Promise<Hashes> {
  const files = (await readdir(join(root, FOLDER))).filter((file) => file.endsWith('.sql'));
  const entries = files.map(async (file): Promise<[string, string]> => {
    const text = await readFile(join(root, FOLDER, file));
    return [file.slice(0, -'.sql'.length), createHash('sha256').update(text).digest('hex')];
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function readFrozen(root: string): Promise<Hashes> {
  const path = join(root, FROZEN_MIGRATIONS);
  return existsSync(path) ? JSON.parse(await readFile(path, 'utf8')) : {};
}

interface EarlierList {
  /** Abbreviated. */
  readonly commit: string;
  readonly hashes: Hashes;
}

/** Each committed state of the list in the present branch's history; none where there is no git or no checkout of it. */
async function readEarlierLists(root: string): Promise<EarlierList[]> {
  const commits = await git(root, ['log', '--format=%h', '--diff-filter=AM', '--', FROZEN_MIGRATIONS]);
  if (commits === null) return [];
  const lists: EarlierList[] = [];
  for (const commit of commits.split('\n').filter((line) => line !== '')) {
    const text = await git(root, ['show', `${commit}:./${FROZEN_MIGRATIONS}`]);
    if (text !== null) lists.push({ commit, hashes: JSON.parse(text) });
  }
  return lists;
}

async function git(root: string, args: readonly string[]): Promise<string | null> {
  try {
    return (await promisify(execFile)('git', args, { cwd: root })).stdout;
  } catch (error) {
    // No git on this machine, or sources without history: 128 is git's own word for it.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 128)) return null;
    throw error;
  }
}
