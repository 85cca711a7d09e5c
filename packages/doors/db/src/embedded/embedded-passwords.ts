import { randomBytes } from 'node:crypto';
import { chown, link, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { EmbeddedPostgresError, unusableFolder } from '../database-error.ts';
import { type ServerAccount, unlessMissing } from './server-account.ts';

const SUPERUSER_FILE = 'superuser-password';
const PROGRAM_FILE = 'password';

export interface EmbeddedPasswords {
  readonly superuser: string;
  readonly program: string;
  readonly superuserFile: string;
}

/** @throws {EmbeddedPostgresError} EMBEDDED_POSTGRES_FOLDER */
export async function ensurePasswords(dataDir: string, account: ServerAccount): Promise<EmbeddedPasswords> {
  const superuserFile = join(dataDir, SUPERUSER_FILE);
  return {
    superuser: await ensurePassword(superuserFile, account),
    program: await ensurePassword(join(dataDir, PROGRAM_FILE), account),
    superuserFile,
  };
}

async function ensurePassword(path: string, account: ServerAccount): Promise<string> {
  // A full disk must not keep commands from a running server.
  if ((await unlessMissing(readFile(path))) === undefined) await createPassword(path, account);
  const password = (await readFile(path, 'utf8')).trim();
  if (password === '') throw emptyPassword(path);
  return password;
}

async function createPassword(path: string, account: ServerAccount): Promise<void> {
  // A crash must not leave an empty file under the final name.
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    await giveTo(draft, account);
    await link(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

function emptyPassword(path: string): EmbeddedPostgresError {
  const isReplaceable = basename(path) === PROGRAM_FILE;
  return new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_PASSWORD',
    message: `The password file ${path} of the embedded Postgres is empty`,
    facts: { path },
    remedy: isReplaceable
      ? 'Remove it: the next start makes a new password'
      : 'Restore it from a backup. If the folder has no data yet, remove the folder',
    retryable: false,
  });
}

/** Under root only. @throws {EmbeddedPostgresError} EMBEDDED_POSTGRES_FOLDER */
export async function giveTo(path: string, account: ServerAccount): Promise<void> {
  if (account.uid === undefined || account.gid === undefined) return;
  try {
    await chown(path, account.uid, account.gid);
  } catch (error) {
    throw unusableFolder(path, error);
  }
}
