import { type Logger, redactUrl } from '@chainstead/core';
import { createRedisBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { JobError } from './job-error.ts';
import type { QueueBackend } from './queue-backend.ts';

export interface RedisBackendOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly logger: Logger;
}

/**
 * One connection for all queues, and one more per worker, which blocks on it.
 * @throws {JobError} JOBS_REDIS_EVICTS when the server would delete queued jobs under memory pressure
 */
export async function openRedisBackend(options: RedisBackendOptions): Promise<QueueBackend> {
  // Workers wait for a server that is away instead of failing their commands, as BullMQ demands.
  const redis = new Redis(options.redisUrl, {
    maxRetriesPerRequest: null,
    lazyConnect: true,
    connectionName: 'chainstead-jobs',
  });
  redis.on('error', (error) => options.logger.warn({ err: error }, 'Connection of the job queues lost'));
  try {
    await redis.connect();
    await refuseEviction(redis, redactUrl(options.redisUrl));
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  return {
    prefix: options.prefix,
    factory: (name, queueOptions, factoryOptions) =>
      createRedisBackend(name, { ...queueOptions, connection: redis }, factoryOptions),
    async close() {
      await redis.quit();
    },
  };
}

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
