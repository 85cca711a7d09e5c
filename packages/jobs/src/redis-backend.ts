import { errorText, type Logger, redactUrl } from '@chainstead/core';
import { createRedisBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { createBackendWatch, within } from './backend-watch.ts';
import { JobError } from './job-error.ts';
import type { QueueBackend } from './queue-backend.ts';

export interface RedisBackendOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly logger: Logger;
}

/** How long the start waits for a server; after that it goes on without, and the queues are used once it is there. */
const CONNECT_MS = 3_000;
const QUIT_MS = 1_000;

/**
 * One connection for all queues, and one more per worker, which blocks on it. A server that is away is waited for by the queues
 * alone: nobody else has to.
 * @throws {JobError} JOBS_REDIS_EVICTS when the server would delete queued jobs under memory pressure
 */
export async function openRedisBackend(options: RedisBackendOptions): Promise<QueueBackend> {
  const { logger } = options;
  const server = redactUrl(options.redisUrl);
  // Workers wait for a server that is away instead of failing their commands, as BullMQ demands.
  const redis = new Redis(options.redisUrl, {
    maxRetriesPerRequest: null,
    connectionName: 'chainstead-jobs',
    keepAlive: KEEP_ALIVE_MS,
  });
  const watch = createBackendWatch({ server, ping: () => redis.ping(), logger });
  // The watch tells of outages.
  redis.on('error', (error) => logger.debug({ server, reason: errorText(error) }, 'Connection of the job queues lost'));
  async function close(): Promise<void> {
    watch.close();
    if (watch.isUp()) await within(QUIT_MS, redis.quit()).catch(() => undefined);
    redis.disconnect();
  }
  try {
    // A hung server leaves the ready event out.
    const isReady = await within(CONNECT_MS, redis.ping()).then(
      () => true,
      () => watch.look(),
    );
    if (isReady) await refuseEviction(redis, server);
    watch.onUp(() => {
      refuseEviction(redis, server).catch((error: unknown) =>
        logger.error({ server, err: error }, 'Jobs may get lost'),
      );
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    prefix: options.prefix,
    watch,
    factory: (name, queueOptions, factoryOptions) =>
      createRedisBackend(name, { ...queueOptions, connection: redis }, factoryOptions),
    close,
  };
}

/** So that a machine that is gone is noticed. Milliseconds. */
const KEEP_ALIVE_MS = 10_000;

async function refuseEviction(redis: Redis, server: string): Promise<void> {
  // From INFO, because hosted servers often forbid CONFIG.
  const policy = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1];
  if (policy === undefined || policy === 'noeviction') return;
  throw new JobError({
    code: 'JOBS_REDIS_EVICTS',
    message: `The Redis server ${server} has the maxmemory-policy ${policy}, under which it deletes queued jobs`,
    facts: { server, maxmemory_policy: policy },
    remedy:
      'Set maxmemory-policy to noeviction on that server, or leave REDIS_URL unset to keep the queues in Postgres',
    retryable: false,
  });
}
