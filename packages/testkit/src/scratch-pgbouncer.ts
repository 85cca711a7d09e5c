import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { killProcess, startServerProcess } from './start-server-process.ts';

export interface ScratchPgBouncer {
  /** The same database and login as the server's URL, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

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
  const cleanUp = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const child = await startServerProcess('pgbouncer', ['-q', ...account, join(folder, 'pgbouncer.ini')], port);
  if (child === undefined) {
    await cleanUp();
    return undefined;
  }
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: url.href,
    async stop() {
      await killProcess(child);
      await cleanUp();
    },
  };
}
