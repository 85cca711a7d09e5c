import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './database-error.ts';
import { unlessMissing } from './unless-missing.ts';

/** Whom the embedded server runs as. Empty: as the current user. Fits the options of `spawn`. */
export interface ServerAccount {
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Postgres refuses to run as root, so root lends it another account: the owner of an existing cluster, else `postgres`, else
 * `nobody`, else any other account of the machine, else a new system account `chainstead`.
 * `initdb` looks its user up by number, so a free number without an account would not do.
 * @param clusterFolder may not exist yet
 * @throws {EmbeddedPostgresError} EMBEDDED_POSTGRES_ACCOUNT when root finds none and can make none
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
    accounts.find(({ name }) => name === 'postgres') ?? accounts.find(({ name }) => name === 'nobody') ?? accounts[0];
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
    message: 'Postgres refuses to run as root, and this machine has no other account to run it as',
    remedy: 'Create an account (useradd --system chainstead), start as an ordinary user, or set DATABASE_URL',
    retryable: false,
    cause,
  });
}
