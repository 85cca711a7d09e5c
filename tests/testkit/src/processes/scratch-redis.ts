import { freePort } from '../network/free-port.ts';
import { killProcess, startServerProcess } from './start-server-process.ts';

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

/**
 * Starts the machine's `redis-server` on a free port, keeping nothing on disk.
 * @returns undefined when the machine has none
 */
export async function startScratchRedis(options: ScratchRedisOptions = {}): Promise<ScratchRedis | undefined> {
  const port = await freePort();
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const policy = ['--maxmemory', '64mb', '--maxmemory-policy', options.maxmemoryPolicy ?? 'noeviction'];
  const launch = () => startServerProcess('redis-server', [...flags, ...policy], port);
  let server = await launch();
  if (server === undefined) return undefined;
  return {
    url: `redis://127.0.0.1:${port}`,
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    async restart() {
      server = await launch();
    },
    async stop() {
      if (server !== undefined) await killProcess(server);
    },
  };
}
