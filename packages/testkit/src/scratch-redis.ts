import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface ScratchRedis {
  readonly url: string;
  /** Has it hang: connections stay, nothing is answered until it is resumed. */
  pause(): void;
  resume(): void;
  /** Starts it again on its port after `stop`, with nothing in it. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface ScratchRedisOptions {
  /** @default 'noeviction' */
  readonly maxmemoryPolicy?: string;
}

const ATTEMPTS_MAX = 200;

/**
 * Starts the machine's `redis-server` on a free port, keeping nothing on disk.
 * @returns undefined when the machine has none
 */
export async function startScratchRedis(options: ScratchRedisOptions = {}): Promise<ScratchRedis | undefined> {
  const port = await freePort();
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const policy = ['--maxmemory', '64mb', '--maxmemory-policy', options.maxmemoryPolicy ?? 'noeviction'];
  const launch = (): ChildProcess => spawn('redis-server', [...flags, ...policy], { stdio: 'ignore', cwd: '/' });
  let server = launch();
  const started = await Promise.race([
    once(server, 'spawn').then(() => true),
    once(server, 'error').then(() => false),
  ]).catch(() => false);
  if (!started) return undefined;
  await answering(server, port);
  return {
    url: `redis://127.0.0.1:${port}`,
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    async restart() {
      server = launch();
      await answering(server, port);
    },
    async stop() {
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.kill('SIGKILL');
      await once(server, 'exit');
    },
  };
}

/** Has a Redis without a password forget everything that it holds. */
export async function flushRedis(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setEncoding('utf8');
  try {
    socket.write('FLUSHALL\r\n');
    const [answer] = await once(socket, 'data');
    if (!String(answer).startsWith('+OK')) throw new Error(`Redis refused FLUSHALL: ${answer}`);
  } finally {
    socket.destroy();
  }
}

async function answering(server: ChildProcess, port: number): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await delay(25);
  }
  server.kill('SIGKILL');
  throw new Error(`redis-server does not answer on port ${port}`);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new TypeError('A listening TCP server has no port');
  return address.port;
}
