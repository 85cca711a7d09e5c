import { answerWithin, errorText, type Logger, redactUrl } from '@chainstead/core';
import { createRedisBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { type BackendWatch, type ScheduleBackend, ScheduleError } from './postgres-backend.ts';

/** Then the process starts without it; schedules run once it is available. */
const CONNECT_MS = 3_000;
const QUIT_MS = 1_000;

/** One connection, and one per worker, which blocks. @throws {ScheduleError} JOBS_REDIS_EVICTS */
export async function openRedisBackend(
  redisUrl: string,
  prefix: string,
  logger: Logger,
): Promise<ScheduleBackend> {
  const server = redactUrl(redisUrl);
  // BullMQ requires null: workers' commands wait instead of failing.
  const redis = new Redis(redisUrl, {
    maxRetriesPerRequest: null,
    connectionName: 'chainstead-jobs',
    keepAlive: KEEP_ALIVE_MS,
  });
  const watch = createRedisWatch({ server, ping: () => redis.ping(), logger });
  redis.on('error', (error) =>
    logger.debug({ server, reason: errorText(error) }, 'Connection of the job queues lost'),
  );
  async function close(): Promise<void> {
    watch.close();
    // A connection that can't quit is cut below.
    if (watch.isUp()) await answerWithin(QUIT_MS, redis.quit()).catch(() => undefined);
    redis.disconnect();
  }
  try {
    // A hung server never emits the ready event.
    const isReady = await answerWithin(CONNECT_MS, redis.ping()).then(
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
    prefix,
    watch,
    factory: (name, queueOptions, factoryOptions) =>
      createRedisBackend(name, { ...queueOptions, connection: redis }, factoryOptions),
    close,
  };
}

const KEEP_ALIVE_MS = 10_000;

async function refuseEviction(redis: Redis, server: string): Promise<void> {
  // Hosted servers often forbid CONFIG.
  const policy = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1];
  if (policy === undefined || policy === 'noeviction') return;
  throw new ScheduleError({
    code: 'JOBS_REDIS_EVICTS',
    message: `The Redis server ${server} deletes queued jobs when memory is short (maxmemory-policy ${policy})`,
    facts: { server, maxmemory_policy: policy },
    remedy:
      'Set maxmemory-policy to noeviction on that server, or unset REDIS_URL to store schedules in Postgres',
    retryable: false,
  });
}

interface RedisWatchOptions {
  readonly server: string;
  readonly ping: () => Promise<unknown>;
  readonly logger: Logger;
}

const LOOK_EVERY_MS = 1_000;
const ANSWER_MS = 1_000;
/** After an outage, interrupted commands still fail this long. */
const ECHO_MS = 10_000;

/** Checks every second. Logs one line as an outage begins and one as it ends. */
function createRedisWatch({ server, ping, logger }: RedisWatchOptions): BackendWatch & { close(): void } {
  const listeners = new Set<() => void>();
  let downSince: number | null = null;
  let backAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<boolean> | null = null;
  let isClosed = false;

  function change(failure: unknown): boolean {
    const now = performance.now();
    if (failure !== null && downSince === null && !isClosed) {
      downSince = now;
      const fields = { server, reason: errorText(failure) };
      logger.warn(fields, 'Redis is unavailable: schedules wait, all other work continues');
    }
    if (failure === null && downSince !== null) {
      const seconds = Math.round((now - downSince) / 1_000);
      downSince = null;
      backAt = now;
      logger.info({ server, seconds }, 'Redis is available again');
      for (const listener of listeners) listener();
    }
    return downSince === null;
  }

  function look(): Promise<boolean> {
    looking ??= answerWithin(ANSWER_MS, ping())
      .then(
        () => change(null),
        (error: unknown) => change(error),
      )
      .finally(() => {
        looking = null;
      });
    return looking;
  }

  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  return {
    isUp: () => downSince === null,
    isSteady: () => downSince === null && performance.now() - backAt > ECHO_MS,
    look,
    onUp(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
