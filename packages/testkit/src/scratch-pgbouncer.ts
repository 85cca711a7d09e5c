import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface ScratchPgBouncer {
  /** The same database and login as the server's URL, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

const PROGRAM = 'pgbouncer';
const ATTEMPTS_MAX = 200;

/**
 * Starts the machine's `pgbouncer` before a server, with nothing but the pool's mode and sizes changed from its defaults.
 * @returns undefined when the machine has none
 */
export async function startScratchPgBouncer(
  serverUrl: string,
  mode: 'session' | 'transaction',
): Promise<ScratchPgBouncer | undefined> {
  const server = new URL(serverUrl);
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-pgbouncer-'));
  const port = await freePort();
  await writeFile(join(folder, 'users.txt'), `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]\n* = host=${server.hostname} port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = ${join(folder, 'users.txt')}\npool_mode = ${mode}\nmax_client_conn = 300\ndefault_pool_size = 80\n`,
  );
  await chmod(folder, 0o755);
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(PROGRAM, ['-q', ...account, join(folder, 'pgbouncer.ini')], {
    stdio: 'ignore',
    cwd: '/',
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  };
  const started = await Promise.race([
    once(child, 'spawn').then(() => true),
    once(child, 'error').then(() => false),
  ]).catch(() => false);
  if (!started) {
    await rm(folder, { recursive: true, force: true });
    return undefined;
  }
  await answering(child, port);
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return { url: url.href, stop };
}

async function answering(child: ChildProcess, port: number): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await delay(25);
  }
  child.kill('SIGKILL');
  throw new Error(`pgbouncer does not answer on port ${port}`);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new TypeError('A listening TCP server has no port');
  return address.port;
}
