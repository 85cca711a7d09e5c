import { execFile } from 'node:child_process';
import { appendFile, chown, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { chooseServerAccount, unlessMissing } from '@chainstead/db/server';
import { freePort } from '../network/free-port.ts';

/** A server of the Postgres that Debian installs: a separate cluster in a temporary folder, on 127.0.0.1. */
export interface ScratchCluster {
  readonly host: string;
  /** As the superuser `postgres`. @param database @default 'postgres' */
  url(database?: string): string;
  /** A copy by `pg_basebackup`, with a separate folder and port, that streams from this one. */
  createStandby(): Promise<ScratchCluster>;
  /** Has a standby take writes. */
  promote(): Promise<void>;
  /** Ends it as a crash would: nothing is said to standbys or written down. */
  crash(): Promise<void>;
  /** Ends its first process by SIGKILL; the others, which are in the midst of their statements, end as they notice. Linux only. */
  kill(): Promise<void>;
  /** Has it run again where it ran before a crash, with what it had written down. Nothing happens where it runs. */
  restart(): Promise<void>;
  /** Ends it when it runs, and removes its folder. */
  remove(): Promise<void>;
}

/** One installation of Postgres: server and client programs. */
export interface PostgresPrograms {
  /** Makes a cluster and starts it. */
  createCluster(options?: ClusterOptions): Promise<ScratchCluster>;
  /** The folder of `pg_dump`, `pg_restore` and the like. */
  readonly bin: string;
}

export interface ClusterOptions {
  /** Lines of postgresql.conf, over those that make it quick. */
  readonly settings?: string;
  /** `trust` admits every process on this machine, as servers that connect to each other need it. @default 'scram-sha-256' */
  readonly authentication?: 'scram-sha-256' | 'trust';
}

/** Limit for the output of a server that does not start, of which the end is shown. Characters. */
const LOG_SHOWN = 1_500;
const INSTALLATIONS = '/usr/lib/postgresql';
/** Where each has what extensions are made of. */
const SHARED = '/usr/share/postgresql';
const PASSWORD = 'of-a-scratch-cluster';
/**
 * Nothing in it outlives its run, so nothing waits for a disk. A standby whose connection broke for a moment finds the log it has missed:
 * a copy that is made meanwhile would have the server remove it.
 */
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
shared_buffers = 16MB
wal_keep_size = 128MB
`;

/**
 * @param extension that it has to have, as `citus`
 * @returns the newest that Debian's package `postgresql` has installed; undefined when the machine has none
 */
export async function findPostgresPrograms(extension?: string): Promise<PostgresPrograms | undefined> {
  const versions = (await unlessMissing(readdir(INSTALLATIONS))) ?? [];
  for (const version of versions.toSorted((a, b) => Number(b) - Number(a))) {
    const bin = join(INSTALLATIONS, version, 'bin');
    // A client's package alone brings no server.
    const needed = [join(bin, 'initdb')];
    if (extension !== undefined) needed.push(join(SHARED, version, 'extension', `${extension}.control`));
    const found = await Promise.all(needed.map((file) => unlessMissing(stat(file))));
    if (found.includes(undefined)) continue;
    return { bin, createCluster: (options) => createCluster(bin, options) };
  }
  return undefined;
}

async function createCluster(bin: string, options: ClusterOptions = {}): Promise<ScratchCluster> {
  const folder = await createFolder();
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, PASSWORD, { mode: 0o644 });
  const { authentication = 'scram-sha-256', settings = '' } = options;
  const login = ['--username=postgres', `--pwfile=${passwordFile}`, `--auth=${authentication}`];
  await runAsServer(join(bin, 'initdb'), [
    ...login,
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
    dataOf(folder),
  ]);
  await appendFile(join(dataOf(folder), 'postgresql.conf'), SETTINGS + settings);
  return startCluster(bin, folder);
}

/** @param folder holds a cluster that doesn't run */
async function startCluster(bin: string, folder: string): Promise<ScratchCluster> {
  const port = await freePort();
  const control = (action: string, ...flags: readonly string[]): Promise<void> =>
    runAsServer(join(bin, 'pg_ctl'), [action, `--pgdata=${dataOf(folder)}`, '--silent', ...flags]);
  const log = join(folder, 'server.log');
  const start = async (): Promise<void> => {
    try {
      await control('start', `--log=${log}`, `--options=-p ${port}`);
    } catch (error) {
      const written = (await unlessMissing(readFile(log, 'utf8'))) ?? '';
      throw new Error(`The server did not start: ${written.slice(-LOG_SHOWN)}`, { cause: error });
    }
  };
  await start();
  let runs = true;
  const url = (database = 'postgres'): string => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;
  const crash = async (): Promise<void> => {
    if (runs) await control('stop', '--mode=immediate');
    runs = false;
  };
  return {
    host: `127.0.0.1:${port}`,
    url,
    async createStandby() {
      const copy = await createFolder();
      const flags = [
        `--dbname=${url()}`,
        `--pgdata=${dataOf(copy)}`,
        '--write-recovery-conf',
        '--checkpoint=fast',
      ];
      await runAsServer(join(bin, 'pg_basebackup'), [...flags, '--no-sync']);
      return startCluster(bin, copy);
    },
    promote: () => control('promote'),
    crash,
    async kill() {
      runs = false;
      await killServer(dataOf(folder));
    },
    async restart() {
      if (!runs) await start();
      runs = true;
    },
    async remove() {
      await crash();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What has not noticed by then that its server is gone is ended as well: it would keep the next one from the memory. Milliseconds. */
const NOTICED_MS = 10_000;

async function killServer(data: string): Promise<void> {
  const pidFile = join(data, 'postmaster.pid');
  process.kill(Number((await readFile(pidFile, 'utf8')).split('\n')[0]), 'SIGKILL');
  const until = performance.now() + NOTICED_MS;
  for (;;) {
    const left = await processesIn(data);
    if (left.length === 0) break;
    if (performance.now() > until) for (const one of left) process.kill(one, 'SIGKILL');
    await delay(20);
  }
  // In a container, the exit may go unnoticed: to the next one its number would be in use.
  await rm(pidFile);
}

/** Every process of a server works in its folder. */
async function processesIn(data: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if ((await readlink(`/proc/${name}/cwd`)) === data) found.push(Number(name));
    } catch (error) {
      // It has ended meanwhile, or belongs to another process.
      if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) throw error;
    }
  }
  return found;
}

function dataOf(folder: string): string {
  return join(folder, 'data');
}

/** Belongs to whom the server runs as. */
async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-cluster-'));
  const { uid, gid } = await chooseServerAccount(folder);
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
  return folder;
}

/** Nothing of ours leaks in: PG* variables would change what the programs do, and messages stay in English. */
const ENVIRONMENT = { LC_ALL: 'C' };

/** Postgres refuses to run as root. @throws {Error} with what the program said when it fails */
async function runAsServer(program: string, flags: readonly string[]): Promise<void> {
  const account = await chooseServerAccount(INSTALLATIONS);
  await promisify(execFile)(program, flags, { cwd: '/', env: ENVIRONMENT, ...account });
}
