import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from '../database-error.ts';

/** For `spawn`. Empty: the current user. */
export interface ServerAccount {
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Postgres refuses root, and `initdb` needs a known user: the cluster's owner, else any account.
 * @throws {EmbeddedPostgresError} EMBEDDED_POSTGRES_ACCOUNT
 */
export async function chooseServerAccount(clusterFolder: string): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return {};
  const owner = await unlessMissing(stat(clusterFolder));
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const account = pickAccount((await unlessMissing(readFile('/etc/passwd', 'utf8'))) ?? '');
  return account ?? createAccount();
}

/** @param passwd text of `/etc/passwd` */
export function pickAccount(passwd: string): Required<ServerAccount> | undefined {
  const accounts = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid ?? Number.NaN), gid: Number(gid ?? Number.NaN) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0);
  const chosen =
    accounts.find(({ name }) => name === 'postgres') ??
    accounts.find(({ name }) => name === 'nobody') ??
    accounts[0];
  return chosen === undefined ? undefined : { uid: chosen.uid, gid: chosen.gid };
}

async function createAccount(): Promise<Required<ServerAccount>> {
  let cause: unknown;
  try {
    await promisify(execFile)('useradd', ['--system', '--user-group', '--no-create-home', 'chainstead']);
  } catch (error) {
    cause = error;
  }
  const account = pickAccount((await unlessMissing(readFile('/etc/passwd', 'utf8'))) ?? '');
  if (account !== undefined) return account;
  throw new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_ACCOUNT',
    message: 'Postgres cannot run as root, and this machine has no other account for it',
    remedy:
      'Create an account (useradd --system chainstead), start Chainstead as an ordinary user, or set DATABASE_URL',
    retryable: false,
    cause,
  });
}

/** Undefined if the path does not exist. @throws all other errors */
export async function unlessMissing<Found>(look: Promise<Found>): Promise<Found | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}
