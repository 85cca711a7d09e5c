import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '@chainstead/core';
import { EmbeddedPostgresError } from '../database-error.ts';
import { isProvisioned, programUrl, provisionDatabase, superuserUrl } from '../server/provision-database.ts';
import type { EmbeddedPasswords } from './embedded-passwords.ts';
import { type RunningServer, type ServerOptions, startServer } from './postgres-process.ts';
import { isPostgresProcess, processLives, readPostmaster, until } from './postmaster.ts';
import { unlessMissing } from './server-account.ts';
import { pause, superviseServer } from './supervised-server.ts';

/** After this time, the owner of a stopped server counts as gone. */
const OWNER_TIMEOUT_MS = 10_000;
const OWNER_FILE = 'owner';
/** The port stays the same, so that URLs of clients stay valid. */
const PORT_FILE = 'port';
const WATCH_MS = 500;

export interface ServerFolder {
  readonly dataDir: string;
  readonly passwords: EmbeddedPasswords;
  readonly server: ServerOptions;
}

export interface UsedServer {
  readonly port: number;
  stop(): Promise<void>;
}

async function own({ dataDir, server }: ServerFolder, started: RunningServer): Promise<UsedServer> {
  await writeFile(join(dataDir, OWNER_FILE), `${process.pid}\n`);
  await writeFile(join(dataDir, PORT_FILE), `${started.port}\n`);
  const supervised = superviseServer(started, server);
  return {
    port: started.port,
    async stop() {
      await supervised.stop();
      await rm(join(dataDir, OWNER_FILE), { force: true });
    },
  };
}

/** @returns `taken` if another process runs it */
export async function runOwnServer(folder: ServerFolder): Promise<UsedServer | 'taken'> {
  const former = Number((await unlessMissing(readFile(join(folder.dataDir, PORT_FILE), 'utf8'))) ?? Number.NaN);
  const isPort = Number.isInteger(former) && former > 0 && former < 65_536;
  const started = await startServer({ ...folder.server, ...(isPort && { preferredPort: former }) });
  if (started === 'taken') return started;
  if (isPort && folder.server.port === undefined && started.port !== former)
    folder.server.logger.warn(
      { port: started.port, former_port: former },
      'Another program uses the former port of the embedded Postgres: update URLs of its clients',
    );
  return own(folder, started);
}

/** The owner may be restarting it: a second server would interfere. */
export async function waitForOwner({ dataDir, server: { cluster, logger } }: ServerFolder): Promise<void> {
  const isUp = async (): Promise<boolean> => (await readPostmaster(cluster))?.status === 'ready';
  const owner = await readOwner(dataDir);
  if (owner === process.pid || !processLives(owner) || (await isUp())) return;
  logger.warn(
    { pid: owner, data_dir: dataDir },
    'Waiting for the process that runs the embedded Postgres to start it',
  );
  await until(async () => !processLives(owner) || (await isUp()), OWNER_TIMEOUT_MS);
}

/** Returns -1 if the file has no pid. */
async function readOwner(dataDir: string): Promise<number> {
  const text = await unlessMissing(readFile(join(dataDir, OWNER_FILE), 'utf8'));
  const pid = Number(text ?? Number.NaN);
  return Number.isInteger(pid) && pid > 0 ? pid : -1;
}

/** Takes over from a gone owner. @returns undefined if none runs; removes its lock file */
export async function useRunningServer(folder: ServerFolder): Promise<UsedServer | undefined> {
  const { dataDir, passwords, server } = folder;
  const { cluster, logger, startTimeoutMs, stopTimeoutMs } = server;
  const postmaster = await readPostmaster(cluster);
  if (postmaster === undefined) return undefined;
  let settled = postmaster;
  await until(async () => {
    settled = (await readPostmaster(cluster)) ?? { ...settled, status: 'gone' };
    return settled.status === 'ready' || settled.status === 'gone' || !(await isPostgresProcess(settled.pid));
  }, startTimeoutMs);
  if (settled.status === 'gone') return undefined;
  const { pid, port } = settled;
  const provisioned = { port, passwords };
  if (!(await isPostgresProcess(pid))) {
    await rm(join(cluster, 'postmaster.pid'), { force: true });
    return undefined;
  }
  try {
    const urls = { superuserUrl: superuserUrl(provisioned), programUrl: programUrl(provisioned) };
    if (!(await isProvisioned(urls.programUrl))) await provisionDatabase(urls);
  } catch (error) {
    // It may be stopping: its owner is gone, and the watching shell stopped it.
    if (await until(async () => !(await isPostgresProcess(pid)), stopTimeoutMs)) return undefined;
    throw startFailed(dataDir, `the server that runs on it refuses connections: ${errorText(error)}`, error);
  }
  const owner = await readOwner(dataDir);
  const orphaned = owner === -1 || !processLives(owner);
  logger.info({ port, pid, orphaned, data_dir: dataDir }, 'Using the embedded Postgres that runs already');
  const endSuccession = succeed(folder, settled);
  return {
    port,
    async stop() {
      const taken = await endSuccession();
      if (taken !== null) return taken.stop();
      if (!orphaned || !(await isPostgresProcess(pid))) return;
      process.kill(pid, 'SIGINT');
      await until(async () => !(await isPostgresProcess(pid)), stopTimeoutMs);
    },
  };
}

function succeed(folder: ServerFolder, { pid, port }: { readonly pid: number; readonly port: number }) {
  const { dataDir, server } = folder;
  const { cluster, logger } = server;
  const ending = new AbortController();
  let running = pid;

  async function takeOver(): Promise<UsedServer | null> {
    if (await isPostgresProcess(running)) return null;
    const owner = await readOwner(dataDir);
    const postmaster = await readPostmaster(cluster);
    if (postmaster !== undefined && (await isPostgresProcess(postmaster.pid))) {
      running = postmaster.pid;
      return null;
    }
    if (owner !== process.pid && processLives(owner)) return null;
    const started = await startServer({ ...server, port, signal: ending.signal });
    if (started === 'taken') return null;
    logger.info({ port, data_dir: dataDir }, 'The process that ran the embedded Postgres ended. Running it here');
    return own(folder, started);
  }

  async function watch(): Promise<UsedServer | null> {
    while (!ending.signal.aborted) {
      await pause(WATCH_MS, ending.signal, { ref: false });
      if (ending.signal.aborted) return null;
      try {
        const taken = await takeOver();
        if (taken !== null) return taken;
      } catch (error) {
        logger.error({ error: errorText(error) }, 'Embedded Postgres could not be started again');
      }
    }
    return null;
  }

  const watching = watch();
  /** Ends the watch. @returns the server, if it is this process's now */
  return (): Promise<UsedServer | null> => {
    ending.abort();
    return watching;
  };
}

export function startFailed(dataDir: string, reason: string, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_START',
    message: `The embedded Postgres in ${dataDir} could not be started: ${reason}`,
    facts: { data_dir: dataDir },
    remedy: 'Read the Postgres messages in the application log, or set DATABASE_URL to another server',
    retryable: false,
    cause,
  });
}
