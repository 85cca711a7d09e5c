import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Independent of the working directory. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../../migrations', import.meta.url));

export interface Migration {
  /** `0000_initial`. */
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, hexadecimal. */
  readonly hash: string;
}

/** Paths in journal order. */
export async function listMigrationFiles(folder: string = MIGRATIONS_FOLDER): Promise<string[]> {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    await readFile(join(folder, 'meta/_journal.json'), 'utf8'),
  );
  return journal.entries.map(({ tag }) => join(folder, `${tag}.sql`));
}

/** A folder in drizzle-kit's format (`NNNN_name.sql` and `meta/_journal.json`), in journal order. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  return Promise.all(
    (await listMigrationFiles(folder)).map(async (path) => {
      const text = await readFile(path, 'utf8');
      return { name: basename(path, '.sql'), text, hash: createHash('sha256').update(text).digest('hex') };
    }),
  );
}
