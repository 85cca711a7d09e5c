import type { GenericContainer, StartedTestContainer } from 'testcontainers';

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
const POSTGRES_PORT = 5432;
const REDIS_PORT = 6379;
const PASSWORD = 'scratch';

/**
 * Whether a Docker daemon answers. When none does, says on stderr what does not run for that, so that a skipped test is
 * never a silent one.
 * @param what `Postgres 15, 16 and 17`
 */
export async function findDockerDaemon(what: string): Promise<boolean> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const answers = await getContainerRuntimeClient().then(
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
  const { Wait } = await import('testcontainers');
  // While the image sets its cluster up, the server listens on its socket only: a reply over TCP means that it is done.
  const test: ['CMD-SHELL', string] = ['CMD-SHELL', 'pg_isready --host 127.0.0.1 --username postgres'];
  return start(
    image,
    (container) =>
      container
        .withEnvironment({ POSTGRES_PASSWORD: PASSWORD })
        .withExposedPorts(POSTGRES_PORT)
        .withHealthCheck({ test, interval: 500, timeout: 2_000, retries: 200 })
        .withWaitStrategy(Wait.forAll([Wait.forHealthCheck(), Wait.forListeningPorts()])),
    (started) =>
      `postgres://postgres:${PASSWORD}@${started.getHost()}:${started.getMappedPort(POSTGRES_PORT)}/postgres`,
  );
}

/** A Redis that keeps nothing on disk and evicts nothing. */
export async function startRedisContainer(): Promise<ScratchContainer> {
  const { Wait } = await import('testcontainers');
  return start(
    CONTAINER_IMAGES.redis,
    (container) =>
      container
        .withCommand(['redis-server', '--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'])
        .withExposedPorts(REDIS_PORT)
        .withWaitStrategy(Wait.forLogMessage('Ready to accept connections')),
    (started) => `redis://${started.getHost()}:${started.getMappedPort(REDIS_PORT)}`,
  );
}

async function start(
  image: string,
  configure: (container: GenericContainer) => GenericContainer,
  urlOf: (started: StartedTestContainer) => string,
): Promise<ScratchContainer> {
  const testcontainers = await import('testcontainers');
  const started = await configure(new testcontainers.GenericContainer(image))
    .withStartupTimeout(STARTUP_MS_MAX)
    .start();
  return {
    url: urlOf(started),
    async stop() {
      await started.stop({ removeVolumes: true });
    },
  };
}
