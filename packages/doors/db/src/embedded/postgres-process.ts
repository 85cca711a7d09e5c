import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Logger } from '@chainstead/core';
import { EmbeddedPostgresError } from '../database-error.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { readPostmaster, until } from './postmaster.ts';
import type { ServerAccount } from './server-account.ts';

export interface InitdbOptions {
  readonly binaries: PostgresBinaries;
  readonly account: ServerAccount;
  readonly folder: string;
  readonly user: string;
  readonly passwordFd: number;
  readonly sync: boolean;
  readonly logger: Logger;
}

/** @throws {EmbeddedPostgresError} EMBEDDED_POSTGRES_INITDB with the output */
export async function runInitdb(options: InitdbOptions): Promise<void> {
  const flags = [
    '--encoding=UTF8',
    '--locale=C',
    '--auth=scram-sha-256',
    '--pwfile=/dev/stdin',
    '--no-instructions',
  ];
  const child = spawn(
    options.binaries.initdb,
    [
      `--pgdata=${folderFor(options)}`,
      `--username=${options.user}`,
      ...flags,
      ...(options.sync ? [] : ['--no-sync']),
    ],
    { cwd: options.folder, env: ENVIRONMENT, stdio: [options.passwordFd, 'pipe', 'pipe'], ...options.account },
  );
  const output = collectLines([child.stdout, child.stderr], (line) =>
    options.logger.debug({ line }, 'Message of initdb'),
  );
  const end = await ended(child);
  if (end === 0) return;
  throw new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_INITDB',
    message: `initdb exited with ${end}: ${complaint(output)}`,
    facts: { folder: options.folder, uid: options.account.uid ?? null, output },
    remedy: 'Check that the data folder is writable and has free space, or set DATABASE_URL to a Postgres server',
    retryable: false,
  });
}

export interface ServerOptions {
  readonly binaries: () => Promise<PostgresBinaries>;
  readonly account: ServerAccount;
  readonly cluster: string;
  /** @default `preferredPort`, or a free one */
  readonly port?: number;
  readonly preferredPort?: number;
  readonly isQuiet: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface RunningServer {
  readonly port: number;
  /** Exit code or signal, whatever the reason. */
  readonly ended: Promise<number | string>;
  stop(): Promise<void>;
}

/** Another program may take a free port before the bind. */
const PORT_ATTEMPTS = 5;

/** `taken`: the cluster is in use. @throws {EmbeddedPostgresError} EMBEDDED_POSTGRES_START */
export async function startServer(options: ServerOptions): Promise<RunningServer | 'taken'> {
  const { postgres } = await options.binaries();
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (attempt === 1 ? options.preferredPort : undefined) ?? (await freePort());
    const child = spawnServer(options, postgres, port);
    const output = collectLines([child.stderr], (line) => {
      const isGrave = !options.isQuiet && / (FATAL|PANIC|WARNING): /.test(line);
      options.logger[isGrave ? 'warn' : 'debug']({ line }, 'Message of the embedded Postgres');
    });
    const end = ended(child);
    let running = true;
    const exit = end.then((code) => {
      running = false;
      return code;
    });
    await until(
      async () => !running || options.signal?.aborted === true || (await isReady(options.cluster, child.pid)),
      options.startTimeoutMs,
    );
    if (running && (await isReady(options.cluster, child.pid))) return runningServer(options, child, port, exit);
    if (running) child.kill('SIGQUIT');
    const code = await exit;
    const text = output.join(' ');
    if (text.includes('lock file "postmaster.pid" already exists')) return 'taken';
    if (options.port === undefined && attempt < PORT_ATTEMPTS && text.includes('Address already in use'))
      continue;
    throw new EmbeddedPostgresError({
      code: 'EMBEDDED_POSTGRES_START',
      message: `The embedded Postgres exited with ${code} during startup: ${complaint(output)}`,
      facts: { folder: options.cluster, port, uid: options.account.uid ?? null, output },
      remedy: 'Fix the error in the Postgres message, or set DATABASE_URL to another server',
      retryable: false,
    });
  }
}

function spawnServer(options: ServerOptions, program: string, port: number): ChildProcess {
  const network = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port) };
  const settings = Object.entries({ ...options.settings, ...network });
  const flags = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // Detached: Ctrl-C reaches only this process, which stops the server last.
  return spawn(program, ['-D', folderFor({ ...options, folder: options.cluster }), ...flags], {
    cwd: options.cluster,
    env: ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    ...options.account,
  });
}

function runningServer(
  options: ServerOptions,
  child: ChildProcess,
  port: number,
  exit: Promise<number | string>,
): RunningServer {
  const watcher = stopWhenWeDie(child, options);
  let stopping: Promise<void> | undefined;
  void exit.then(() => watcher.kill('SIGKILL'));
  // None of them keeps a finished program alive.
  child.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
  const stop = async (): Promise<void> => {
    child.ref();
    child.kill('SIGINT');
    const impatience = setTimeout(() => child.kill('SIGQUIT'), options.stopTimeoutMs);
    await exit;
    clearTimeout(impatience);
  };
  return {
    port,
    ended: exit,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** The shell's pipe ends with this process, even by SIGKILL. */
function stopWhenWeDie(server: ChildProcess, options: ServerOptions): ChildProcess {
  const watcher = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$1"', 'sh', String(server.pid)], {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    ...options.account,
  });
  watcher.on('error', (error) =>
    options.logger.warn({ err: error }, 'Embedded Postgres may outlive a crash of this process'),
  );
  watcher.stdin?.on('error', (error) =>
    options.logger.debug({ err: error }, 'Watcher of the embedded Postgres ended'),
  );
  watcher.unref();
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
  return watcher;
}

/** PG* variables would change behavior. LC_ALL keeps messages English. */
const ENVIRONMENT = { LC_ALL: 'C' };

/** Under root, a parent folder may be closed to the account; this name always works. */
function folderFor(options: { readonly account: ServerAccount; readonly folder: string }): string {
  return options.account.uid !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : options.folder;
}

async function isReady(cluster: string, pid: number | undefined): Promise<boolean> {
  const postmaster = await readPostmaster(cluster);
  return postmaster !== undefined && postmaster.pid === pid && postmaster.status === 'ready';
}

async function ended(child: ChildProcess): Promise<number | string> {
  try {
    const [code, signal] = await once(child, 'close');
    return code ?? signal;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const LINES_KEPT = 40;

function collectLines(streams: readonly (Readable | null)[], onLine: (line: string) => void): string[] {
  const lines: string[] = [];
  for (const stream of streams) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (lines.length > LINES_KEPT) lines.shift();
      onLine(line);
    });
  }
  return lines;
}

function complaint(output: readonly string[]): string {
  const reasons = output.filter((line) => /FATAL|ERROR|error:|could not/.test(line));
  return (reasons.length === 0 ? output : reasons)
    .slice(-3)
    .map((line) => line.replace(/^[\d-]+ [\d:.]+ \S+ \[\d+\] /, ''))
    .join('; ');
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new TypeError('A listening TCP server has no port');
  return address.port;
}
