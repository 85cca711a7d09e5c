import type { Logger, Registry } from '@chainstead/core';
import { JobError } from './job-error.ts';
import { createJobMetrics } from './job-metrics.ts';
import { createJobQueue, type JobQueue, type QueueOptions } from './job-queue.ts';
import { migratePostgresBackend, openPostgresBackend } from './postgres-backend.ts';
import type { QueueBackend } from './queue-backend.ts';
import { openRedisBackend } from './redis-backend.ts';

/** Exactly one of `databaseUrl` and `redisUrl`. */
export interface JobsOptions {
  /** Behind a pooler: one that gives each connection a session of its own. */
  readonly databaseUrl?: string;
  readonly redisUrl?: string;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Keeps several installations apart: the schema on Postgres, the key prefix on Redis. @default 'chainstead_jobs' */
  readonly prefix?: string;
  /** On Postgres: connections at most, besides the one that listens. @default 10 */
  readonly poolSize?: number;
}

export interface Jobs {
  readonly backend: 'postgres' | 'redis';
  /** A queue of this name; made where it doesn't exist. Ask once per name and process. */
  queue<Payload>(name: string, options: QueueOptions<Payload>): JobQueue<Payload>;
  /** Stops taking jobs, waits for those at work (see {@link JobQueue.close}), then closes the connections. */
  close(timeoutMs?: number): Promise<void>;
}

/**
 * Connects to the queues' home and makes it ready.
 * @throws {JobError} JOBS_BACKEND_AMBIGUOUS, JOBS_REDIS_EVICTS, JOBS_SCHEMA_FORBIDDEN
 */
export async function createJobs(options: JobsOptions): Promise<Jobs> {
  const { kind, backend } = await openBackend(options);
  const metrics = createJobMetrics(options.metrics, options.logger);
  const queues: Pick<JobQueue<unknown>, 'close'>[] = [];
  let closed: Promise<void> | undefined;
  return {
    backend: kind,
    queue<Payload>(name: string, queueOptions: QueueOptions<Payload>) {
      const queue = createJobQueue({ ...queueOptions, name, backend, metrics, logger: options.logger });
      queues.push(queue);
      return queue;
    },
    close(timeoutMs) {
      closed ??= Promise.all(queues.map((queue) => queue.close(timeoutMs))).then(() => backend.close());
      return closed;
    },
  };
}

/**
 * Makes the home of queues in Postgres, or brings it up to date, so that {@link createJobs} needs no right to create anything.
 * @throws {JobError} JOBS_SCHEMA_FORBIDDEN
 */
export function migrateJobs(options: { readonly databaseUrl: string; readonly logger: Logger }): Promise<void> {
  return migratePostgresBackend({ ...options, schema: DEFAULT_PREFIX });
}

const DEFAULT_PREFIX = 'chainstead_jobs';

async function openBackend(options: JobsOptions): Promise<{ kind: Jobs['backend']; backend: QueueBackend }> {
  const { databaseUrl, redisUrl, logger } = options;
  const prefix = options.prefix ?? DEFAULT_PREFIX;
  if (databaseUrl !== undefined && redisUrl === undefined) {
    const backend = await openPostgresBackend({
      databaseUrl,
      schema: prefix,
      poolSize: options.poolSize ?? 10,
      logger,
      metrics: options.metrics,
    });
    return { kind: 'postgres', backend };
  }
  if (redisUrl !== undefined && databaseUrl === undefined) {
    return { kind: 'redis', backend: await openRedisBackend({ redisUrl, prefix, logger }) };
  }
  throw new JobError({
    code: 'JOBS_BACKEND_AMBIGUOUS',
    message: 'Job queues need either a database URL or a Redis URL, and not both',
    retryable: false,
  });
}
