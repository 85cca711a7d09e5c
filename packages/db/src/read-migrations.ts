import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of the migrations folder. */
export interface Migration {
  /** `0000_initial`. */
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, hexadecimal. */
  readonly hash: string;
}

/** Reads a folder as drizzle-kit writes it (`NNNN_name.sql` and `meta/_journal.json`), in the journal's order. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    await readFile(join(folder, 'meta/_journal.json'), 'utf8'),
  );
  return Promise.all(
    journal.entries.map(async ({ tag }) => {
      const text = await readFile(join(folder, `${tag}.sql`), 'utf8');
      return { name: tag, text, hash: createHash('sha256').update(text).digest('hex') };
    }),
  );
}
