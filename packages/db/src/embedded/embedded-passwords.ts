import { randomBytes } from 'node:crypto';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unusableFolder } from '../database-error.ts';
import type { ServerAccount } from './server-account.ts';

/** Password file of the superuser, which only prepares the database. */
const SUPERUSER_FILE = 'superuser-password';
/** Password file of the role that Chainstead uses. */
const PROGRAM_FILE = 'password';

/** Passwords of the embedded server's two roles. */
export interface EmbeddedPasswords {
  readonly superuser: string;
  readonly program: string;
  /** For initdb. */
  readonly superuserFile: string;
}

/**
 * Reads the generated passwords from the data folder, and creates missing ones. @throws {EmbeddedPostgresError}
 * EMBEDDED_POSTGRES_FOLDER
 */
export async function ensurePasswords(dataDir: string, account: ServerAccount): Promise<EmbeddedPasswords> {
  const superuserFile = join(dataDir, SUPERUSER_FILE);
  return {
    superuser: await ensurePassword(superuserFile, account),
    program: await ensurePassword(join(dataDir, PROGRAM_FILE), account),
    superuserFile,
  };
}

async function ensurePassword(path: string, account: ServerAccount): Promise<string> {
  try {
    await writeFile(path, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    await giveTo(path, account);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return (await readFile(path, 'utf8')).trim();
}

/**
 * If this process is root, makes the server's account the owner. @throws {EmbeddedPostgresError}
 * EMBEDDED_POSTGRES_FOLDER
 */
export async function giveTo(path: string, account: ServerAccount): Promise<void> {
  if (account.uid === undefined || account.gid === undefined) return;
  try {
    await chown(path, account.uid, account.gid);
  } catch (error) {
    throw unusableFolder(path, error);
  }
}
