import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../network/free-port.ts';
import { killProcess, startServerProcess } from '../processes/start-server-process.ts';

export interface ScratchPgBouncer {
  /** The same database and login as the server's URL, through the pooler. */
  readonly url: string;
  /** Whether it keeps prepared statements in transaction mode, which versions from 1.21 on do if configured. */
  readonly keepsStatements: boolean;
  stop(): Promise<void>;
}

/**
 * Starts the machine's `pgbouncer` before a server, with nothing but the pool's mode and sizes changed from its defaults, and prepared
 * statements where it knows them.
 * @returns undefined when the machine has none
 */
export async function startScratchPgBouncer(
  serverUrl: string,
  mode: 'session' | 'transaction',
): Promise<ScratchPgBouncer | undefined> {
  const version = await versionOfPgBouncer();
  if (version === undefined) return undefined;
  const keepsStatements = version >= FIRST_TO_KEEP_STATEMENTS;
  const server = new URL(serverUrl);
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-pgbouncer-'));
  const port = await freePort();
  await writeFile(join(folder, 'users.txt'), `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]\n* = host=${server.hostname} port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = ${join(folder, 'users.txt')}\npool_mode = ${mode}\nmax_client_conn = 300\ndefault_pool_size = 80\n${keepsStatements ? 'max_prepared_statements = 200\n' : ''}`,
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
    keepsStatements,
    async stop() {
      await killProcess(child);
      await cleanUp();
    },
  };
}

/** Minor version of the first PgBouncer (1.x) that keeps prepared statements. */
const FIRST_TO_KEEP_STATEMENTS = 21;

/** @returns the minor version of the machine's PgBouncer; undefined without one */
function versionOfPgBouncer(): Promise<number | undefined> {
  return new Promise((resolve) => {
    execFile('pgbouncer', ['--version'], (error, output) => {
      const minor = /^PgBouncer 1\.(\d+)/.exec(output)?.[1];
      resolve(error === null && minor !== undefined ? Number(minor) : undefined);
    });
  });
}
