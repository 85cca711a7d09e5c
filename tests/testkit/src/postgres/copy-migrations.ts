import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIGRATIONS_FOLDER } from '@chainstead/db/server';

/** A copy of the migrations folder, to which a test adds the migrations of a next version. */
export interface MigrationsCopy {
  readonly folder: string;
  /** Appends a migration, or replaces the text of one. @param name `0001_next` */
  write(name: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

/** Copies the migrations to an empty folder. @param target default: a temporary folder */
export async function copyMigrations(target?: string): Promise<MigrationsCopy> {
  const folder = target ?? (await mkdtemp(join(tmpdir(), 'chainstead-migrations-')));
  await cp(MIGRATIONS_FOLDER, folder, { recursive: true });
  return {
    folder,
    write: (name, text) => writeFile(join(folder, `${name}.sql`), text),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
