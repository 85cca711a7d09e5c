import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Servers of other versions and makes, in containers. */
export const CONTAINER_IMAGES = {
  postgres: ['postgres:15-bookworm', 'postgres:16-bookworm', 'postgres:17-bookworm'],
  citus: 'citusdata/citus:13.2.0',
  redis: 'redis:8-bookworm',
} as const;

export interface ScratchContainer {
  readonly url: string;
  /** Removes the container and what it wrote. */
  stop(): Promise<void>;
}

/** For the hook that starts one: an image may have to be downloaded first. Milliseconds. */
export const CONTAINER_HOOK_MS_MAX = 300_000;

const STARTUP_MS_MAX = 120_000;
const PROBE_EVERY_MS = 500;
const PROBE_MS_MAX = 10_000;
const POSTGRES_PORT = 5432;
const REDIS_PORT = 6379;
const PASSWORD = 'scratch';

/**
 * Whether a Docker daemon answers. When none does, says on stderr what does not run for that, so that a skipped test is
 * never a silent one.
 * @param what `Postgres 15, 16 and 17`
 */
export async function findDockerDaemon(what: string): Promise<boolean> {
  const answers = await docker(['info'], PROBE_MS_MAX).then(
    () => true,
    () => false,
  );
  if (!answers) process.stderr.write(`NOT RUN: no Docker daemon (${what})\n`);
  return answers;
}

/**
 * An empty database `postgres` whose user may do everything. Citus' image has its extension made there already.
 * @param image one of {@link CONTAINER_IMAGES}
 */
export async function startPostgresContainer(image: string): Promise<ScratchContainer> {
  const { id, port } = await start(['--env', `POSTGRES_PASSWORD=${PASSWORD}`, image], POSTGRES_PORT);
  // While the image sets its cluster up, the server listens on its socket only: a reply over TCP means that it is done.
  return onceReady(id, ['pg_isready', '--host', '127.0.0.1', '--username', 'postgres'], {
    url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
    stop: () => remove(id),
  });
}

/** A Redis that keeps nothing on disk and evicts nothing. */
export async function startRedisContainer(): Promise<ScratchContainer> {
  const command = ['redis-server', '--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];
  const { id, port } = await start([CONTAINER_IMAGES.redis, ...command], REDIS_PORT);
  return onceReady(id, ['redis-cli', 'ping'], { url: `redis://127.0.0.1:${port}`, stop: () => remove(id) });
}

/** @param args image and command, after options of `docker run` */
async function start(args: readonly string[], port: number): Promise<{ id: string; port: string }> {
  // On a port of the loopback interface that Docker chooses.
  const id = await docker(['run', '--detach', '--publish', `127.0.0.1::${port}`, ...args], CONTAINER_HOOK_MS_MAX);
  const published = await docker(['port', id, `${port}/tcp`], PROBE_MS_MAX);
  return { id, port: published.split(':').at(-1) ?? '' };
}

/** @param probe a command in the container that succeeds once its server accepts connections */
async function onceReady(
  id: string,
  probe: readonly string[],
  container: ScratchContainer,
): Promise<ScratchContainer> {
  const deadline = performance.now() + STARTUP_MS_MAX;
  for (;;) {
    try {
      await docker(['exec', id, ...probe], PROBE_MS_MAX);
      return container;
    } catch (error) {
      if (performance.now() < deadline) await sleep(PROBE_EVERY_MS);
      else {
        await remove(id);
        throw error;
      }
    }
  }
}

async function remove(id: string): Promise<void> {
  await docker(['rm', '--force', '--volumes', id], PROBE_MS_MAX);
}

async function docker(args: readonly string[], timeout: number): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', args, { timeout });
  return stdout.trim();
}
