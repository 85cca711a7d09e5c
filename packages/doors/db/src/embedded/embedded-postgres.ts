import { mkdir, mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorText, type Logger } from '@chainstead/core';
import { unusableFolder } from '../database-error.ts';
import { programUrl, provisionDatabase, SUPERUSER, superuserUrl } from '../server/provision-database.ts';
import { type EmbeddedPasswords, ensurePasswords, giveTo } from './embedded-passwords.ts';
import { type PostgresBinaries, preparePostgresBinaries } from './postgres-binaries.ts';
import { runInitdb } from './postgres-process.ts';
import { isPostgresProcess, maxWalSize, readPostmaster } from './postmaster.ts';
import {
  runOwnServer,
  type ServerFolder,
  startFailed,
  type UsedServer,
  useRunningServer,
  waitForOwner,
} from './running-server.ts';
import { chooseServerAccount, type ServerAccount, unlessMissing } from './server-account.ts';

export interface EmbeddedPostgresOptions {
  /** Cluster (`data/`), passwords, owner's pid. Created if missing. */
  readonly dataDir: string;
  /** On the loopback interface. @default the folder's last one, or a free one */
  readonly port?: number;
  readonly logger: Logger;
  /** Server messages at level debug only. @default false */
  readonly isQuiet?: boolean;
  /** On top of {@link DEFAULT_SETTINGS}. `fsync: 'off'` also holds for initdb. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  readonly url: string;
  readonly superuserUrl: string;
  /** Rolls back open transactions. The server stays if another process runs it. */
  stop(): Promise<void>;
}

/** For one program on a small machine; the disk sets `max_wal_size`. */
export const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '200',
  shared_buffers: '256MB',
  // 128 MB, not 8 GB: any role can fill the queue, which is on disk.
  max_notify_queue_pages: '16384',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** A crashed server replays its WAL first. */
const START_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 60_000;

/**
 * On 127.0.0.1 with a password, UTF8, locale C; under root, as another account. Ends with this
 * process. A folder's running server is used, and taken over once its starter is gone.
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
  const binaries = preparedOnce(() => preparePostgresBinaries(account, options.logger));
  const passwords = await ensurePasswords(dataDir, account);
  if (!(await hasCluster(dataDir)))
    await createCluster({ dataDir, cluster, account, binaries: await binaries(), passwords, options });

  const folder: ServerFolder = {
    ...{ dataDir, passwords },
    server: {
      ...{ binaries, account, cluster, logger: options.logger, isQuiet: options.isQuiet ?? false },
      settings: { ...DEFAULT_SETTINGS, max_wal_size: await maxWalSize(cluster), ...options.settings },
      ...(options.port === undefined ? {} : { port: options.port }),
      ...{ startTimeoutMs: START_TIMEOUT_MS, stopTimeoutMs: STOP_TIMEOUT_MS },
    },
  };
  await waitForOwner(folder);
  const running = await useRunningServer(folder);
  if (running !== undefined) return embedded(folder, running);
  const server = await runOwnServer(folder);
  if (server === 'taken') {
    const other = await useRunningServer(folder);
    if (other !== undefined) return embedded(folder, other);
    throw startFailed(dataDir, 'its folder is locked by a server that does not answer');
  }
  const own = embedded(folder, server);
  try {
    await provisionDatabase({ superuserUrl: own.superuserUrl, programUrl: own.url });
  } catch (error) {
    await server.stop();
    throw startFailed(dataDir, errorText(error), error);
  }
  options.logger.info({ port: server.port, data_dir: dataDir }, 'Embedded Postgres started');
  return own;
}

/** Not for a server that runs already, and not again: the check starts two programs. */
function preparedOnce(prepare: () => Promise<PostgresBinaries>): () => Promise<PostgresBinaries> {
  let prepared: Promise<PostgresBinaries> | undefined;
  return async () => {
    prepared ??= prepare();
    try {
      return await prepared;
    } catch (error) {
      prepared = undefined;
      throw error;
    }
  };
}

function embedded({ passwords }: ServerFolder, { port, stop }: UsedServer): EmbeddedPostgres {
  return { url: programUrl({ port, passwords }), superuserUrl: superuserUrl({ port, passwords }), stop };
}

export function hasCluster(dataDir: string): Promise<boolean> {
  return pathExists(join(resolve(dataDir), 'data', 'PG_VERSION'));
}

export async function hasRunningServer(dataDir: string): Promise<boolean> {
  const postmaster = await readPostmaster(join(resolve(dataDir), 'data'));
  return postmaster?.status === 'ready' && (await isPostgresProcess(postmaster.pid));
}

/** Whether `url` leads to the running embedded server of a folder, as it does in the processes of a role. */
export async function isEmbeddedServer(dataDir: string, url: string): Promise<boolean> {
  // A list of hosts is no URL.
  if (!URL.canParse(url)) return false;
  const { hostname, port } = new URL(url);
  const postmaster = await readPostmaster(join(resolve(dataDir), 'data'));
  return hostname === '127.0.0.1' && postmaster !== undefined && postmaster.port === Number(port);
}

interface ClusterPlan {
  readonly dataDir: string;
  readonly cluster: string;
  readonly account: ServerAccount;
  readonly binaries: PostgresBinaries;
  readonly passwords: EmbeddedPasswords;
  readonly options: EmbeddedPostgresOptions;
}

/** In a temporary folder that is renamed: a crash leaves no half-made cluster. */
async function createCluster(plan: ClusterPlan): Promise<void> {
  const draft = await mkdtemp(join(plan.dataDir, 'data-'));
  await giveTo(draft, plan.account);
  // As an open file: the account may not reach its path.
  const password = await open(plan.passwords.superuserFile, 'r');
  try {
    const { settings, logger } = plan.options;
    const sync = settings?.fsync !== 'off';
    await runInitdb({ ...plan, folder: draft, user: SUPERUSER, passwordFd: password.fd, sync, logger });
    await rename(draft, plan.cluster);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await pathExists(join(plan.cluster, 'PG_VERSION')))) throw error;
  } finally {
    await password.close();
  }
}

async function pathExists(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path))) !== undefined;
}
