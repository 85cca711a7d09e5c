/** Once for all processes, with BullMQ on Postgres or Redis. */
import { setTimeout as pause } from 'node:timers/promises';
import { errorText, type Logger, type Registry, settlesWithin } from '@chainstead/core';
import { failureLevel, isOutage, outageOr } from '@chainstead/db';
import { type Job, withBackend } from 'bullmq';
import { beginQueueMetrics, createJobMetrics, type JobMetrics } from '../job-metrics.ts';
import { type BackendWatch, openPostgresBackend, type ScheduleBackend } from './postgres-backend.ts';
import { openRedisBackend } from './redis-backend.ts';

export interface Schedule {
  /** Unique, and the queue label in metrics. */
  readonly name: string;
  readonly everyMs: number;
  /** At least once per interval, in one process. The next interval retries a failure. */
  run(signal: AbortSignal): Promise<void>;
}

export interface Schedules {
  start(schedules: readonly Schedule[]): Promise<void>;
  /** Waits for runs; after `timeoutMs` (default 30,000) it aborts them. */
  close(timeoutMs?: number): Promise<void>;
}

export interface SchedulesOptions {
  /** Used if `redisUrl` is null. A pooler must be in session mode. */
  readonly databaseUrl: string;
  readonly redisUrl: string | null;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Between checks for schedules that an emptied Redis lost. @default 60,000 */
  readonly checkEveryMs?: number;
  /** Without lock renewal for this long, runs start again elsewhere. @default 30,000 */
  readonly lockMs?: number;
}

const QUEUE = 'schedules';
const PREFIX = 'chainstead_jobs';
const CHECK_EVERY_MS = 60_000;
const LOCK_MS = 30_000;
const CLOSE_TIMEOUT_MS = 30_000;
const ABORT_GRACE_MS = 2_000;
const IDLE_LOOK_SECONDS = 10;
const LOOK_MS = 250;
const STALLED_COUNT_MAX = 10;

/** @throws {ScheduleError} JOBS_REDIS_EVICTS, JOBS_SCHEMA_FORBIDDEN */
export async function createSchedules(options: SchedulesOptions): Promise<Schedules> {
  const { redisUrl, logger } = options;
  const backend =
    redisUrl === null ? await openPostgresBackend(options) : await openRedisBackend(redisUrl, PREFIX, logger);
  let running: Awaited<ReturnType<typeof startSchedules>> | undefined;
  let closed: Promise<void> | undefined;
  return {
    async start(schedules) {
      if (schedules.length > 0) running = await startSchedules(backend, schedules, options);
    },
    close(timeoutMs = CLOSE_TIMEOUT_MS) {
      closed ??= (running?.close(timeoutMs) ?? Promise.resolve()).then(() => backend.close());
      return closed;
    },
  };
}

async function startSchedules(
  { factory, prefix, watch }: ScheduleBackend,
  schedules: readonly Schedule[],
  { logger, metrics: registry, checkEveryMs = CHECK_EVERY_MS, lockMs = LOCK_MS }: SchedulesOptions,
) {
  const { Queue, Worker } = withBackend(factory);
  const metrics = createJobMetrics(registry);
  const failures = createFailureLog(QUEUE, logger);
  const abandoned = new AbortController();
  let isClosed = false;
  let isChecking = false;
  const connection = { connection: true, prefix } as const;
  const queue = new Queue<unknown, void>(QUEUE, connection);
  const worker = new Worker<unknown, void>(QUEUE, perform, {
    ...connection,
    autorun: false,
    concurrency: schedules.length,
    drainDelay: IDLE_LOOK_SECONDS,
    lockDuration: lockMs,
    stalledInterval: lockMs,
    maxStalledCount: STALLED_COUNT_MAX,
  });

  async function perform({ name }: Job<unknown, void>): Promise<void> {
    const schedule = schedules.find((candidate) => candidate.name === name);
    // Its chain is not configured here. Processes that have it add it again.
    if (schedule === undefined) await queue.removeJobScheduler(name);
    else await runSchedule(schedule, { metrics, logger, signal: abandoned.signal });
  }

  function report(error: unknown, message: string): void {
    void watch.look().then((isUp) => {
      if (isUp && watch.isSteady() && !isClosed) failures.report(error, message);
    });
  }

  async function put({ name, everyMs }: Schedule): Promise<void> {
    const opts = { removeOnComplete: true, removeOnFail: true };
    await queue.upsertJobScheduler(name, { every: everyMs }, { name, data: {}, opts });
  }

  async function restoreLost(): Promise<void> {
    if (isClosed || isChecking) return;
    isChecking = true;
    try {
      for (const schedule of schedules) {
        // Only if lost: adding it again would restart its interval.
        if (!watch.isUp() || (await queue.getJobScheduler(schedule.name)) !== undefined) continue;
        await put(schedule);
        logger.warn({ schedule: schedule.name }, 'Schedule was lost and is made again');
      }
    } catch (error) {
      report(error, 'Schedules could not be checked');
    } finally {
      isChecking = false;
    }
  }

  queue.on('error', (error) => report(error, 'Queue of schedules failed'));
  worker.on('error', (error) => report(error, 'Worker of schedules failed'));
  worker.on('stalled', (jobId) => {
    // BullMQ's id has name and time.
    const name = schedules.find((schedule) => jobId.includes(`:${schedule.name}:`))?.name ?? QUEUE;
    metrics.jobs.inc({ queue: name, outcome: 'stalled' });
    logger.warn({ schedule: name }, 'Scheduled run repeated: its process died');
  });
  for (const { name } of schedules) beginQueueMetrics(metrics, name);
  const ready = worker.waitUntilReady().then(async () => {
    worker.run().catch((error: unknown) => report(error, 'Worker of schedules ended'));
    for (const schedule of schedules) await put(schedule);
  });
  await unlessItGoesAway(watch, ready, (error) => report(error, 'Schedules could not be started'));
  const forget = watch.onUp(() => void restoreLost());
  const timer = setInterval(() => void restoreLost(), checkEveryMs).unref();

  return {
    async close(timeoutMs: number): Promise<void> {
      isClosed = true;
      forget();
      clearInterval(timer);
      const closing = worker.close();
      if (!(await settlesWithin(closing, timeoutMs))) {
        abandoned.abort(new Error('The process ends and waits for its schedules no longer'));
        if (!(await settlesWithin(closing, ABORT_GRACE_MS)))
          logger.error('A scheduled run does not end: another process starts it again');
      }
      await settlesWithin(queue.close(), ABORT_GRACE_MS);
    },
  };
}

/** Never rejects: a failure is logged, and the next interval is its retry. */
async function runSchedule(
  { name, run }: Schedule,
  { metrics, logger, signal }: { metrics: JobMetrics; logger: Logger; signal: AbortSignal },
): Promise<void> {
  const started = performance.now();
  let outcome = 'completed';
  try {
    await run(signal);
  } catch (error) {
    const isInterrupted = signal.aborted || isOutage(outageOr(error));
    outcome = isInterrupted ? 'interrupted' : 'failed';
    if (!isInterrupted) logger.error({ schedule: name, err: error }, 'Scheduled run failed');
  }
  metrics.jobs.inc({ queue: name, outcome });
  metrics.jobSeconds.observe({ queue: name }, (performance.now() - started) / 1_000);
}

/** During an outage the work is not awaited; it continues afterwards. */
async function unlessItGoesAway(
  watch: BackendWatch,
  work: Promise<unknown>,
  onLateFailure: (error: unknown) => void,
): Promise<void> {
  let isDone = false;
  let isAwaited = true;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch((error: unknown) => {
    if (!isAwaited) onLateFailure(error);
  });
  while (!isDone && watch.isUp()) await Promise.race([done, pause(LOOK_MS)]);
  isAwaited = isDone;
  if (isDone) await done;
}

const REPORT_EVERY_MS = 60_000;
const KINDS_MAX = 100;

/** One line per minute and kind, with the repetitions. */
export function createFailureLog(queue: string, logger: Logger) {
  const kinds = new Map<string, { reportedAt: number; unreported: number }>();
  return {
    report(error: unknown, message: string): void {
      const kind = `${message}: ${errorText(error).replaceAll(/\d+/g, '#')}`;
      const known = kinds.get(kind);
      if (known !== undefined && performance.now() - known.reportedAt < REPORT_EVERY_MS) {
        known.unreported += 1;
        return;
      }
      if (kinds.size >= KINDS_MAX) kinds.clear();
      kinds.set(kind, { reportedAt: performance.now(), unreported: 0 });
      const level = failureLevel(outageOr(error));
      logger[level]({ queue, err: error, ...(known !== undefined && { repeated: known.unreported }) }, message);
    },
  };
}
