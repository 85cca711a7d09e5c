import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../../../migrations', import.meta.url));

export interface Migration {
  readonly name: string;
  readonly text: string;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

/** Paths in the order of their numbers. */
export async function listMigrationFiles(folder: string = MIGRATIONS_FOLDER): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql'));
  return files.toSorted().map((name) => join(folder, name));
}

export async function readMigrations(folder: string): Promise<Migration[]> {
  return Promise.all(
    (await listMigrationFiles(folder)).map(async (path) => {
      const text = await readFile(path, 'utf8');
      return { name: basename(path, '.sql'), text, hash: createHash('sha256').update(text).digest('hex') };
    }),
  );
}
