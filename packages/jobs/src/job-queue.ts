import { setTimeout as pause } from 'node:timers/promises';
import { type Logger, settlesWithin } from '@chainstead/core';
import { withBackend } from 'bullmq';
import type { BackendWatch } from './backend-watch.ts';
import type { Backoff } from './backoff.ts';
import { createFailureLog } from './failure-log.ts';
import type { Job } from './job.ts';
import { attemptJob } from './job-attempt.ts';
import { checkPayload, jobsAway } from './job-error.ts';
import { decodeJobId, encodeJobId } from './job-id.ts';
import type { JobMetrics } from './job-metrics.ts';
import { createKeptSchedules } from './kept-schedules.ts';
import type { PayloadSchema } from './payload-schema.ts';
import type { QueueBackend } from './queue-backend.ts';

export interface QueueOptions<Payload> {
  /** Checked when a job is added and again before it is worked on, as the code may have changed in between. Plain JSON. */
  readonly schema: PayloadSchema<Payload>;
  /** How often a job is tried in all. @default 1 */
  readonly attempts?: number;
  /** Wait before the next attempt. @default none */
  readonly backoff?: Backoff;
  /** While a finished job is kept, adding its id again does nothing. @default true */
  readonly removeOnComplete?: boolean;
  /** As above, for jobs whose attempts are used up; each is logged. @default true */
  readonly removeOnFail?: boolean;
  /** A worker that shows no sign of life for this long is taken for dead, and its jobs run again. @default 30 000 */
  readonly lockMs?: number;
  /** How often schedules that the queue has lost (a Redis that was emptied) are looked for and made again. @default 60 000 */
  readonly scheduleCheckMs?: number;
}

export interface AddOptions {
  /** Not before this many milliseconds from now. @default 0 */
  readonly delayMs?: number;
}

export interface WorkOptions {
  /** Jobs at once in this process. */
  readonly concurrency: number;
}

export interface QueueDepth extends Readonly<Record<string, number>> {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly failed: number;
}

export interface JobQueue<Payload> {
  readonly name: string;
  /**
   * Adds a job. Does nothing while a job of this id waits, is delayed or at work: what must not be missed goes under an id
   * of its own.
   * @throws {JobError} JOB_PAYLOAD_INVALID
   */
  add(id: string, payload: Payload, options?: AddOptions): Promise<void>;
  addBulk(jobs: readonly { readonly id: string; readonly payload: Payload }[], options?: AddOptions): Promise<void>;
  /**
   * Starts to work. The handler runs at least once per job, so what it does must bear to be done twice. When it throws, the
   * job is tried again, unless it threw a ChainsteadError that is not retryable.
   */
  work(handler: (job: Job<Payload>) => Promise<void>, options: WorkOptions): Promise<void>;
  /**
   * Adds a job every so many milliseconds, once for all processes. Called again with the same id, it changes the schedule. Should
   * the queue lose it, this process makes it again, until it closes the queue or takes the schedule away itself.
   */
  schedule(id: string, payload: Payload, options: { readonly everyMs: number }): Promise<void>;
  unschedule(id: string): Promise<void>;
  depth(): Promise<QueueDepth>;
  /**
   * Takes no more jobs and waits for those at work; after `timeoutMs` it aborts their signals. Handlers that then throw
   * have their jobs put back at once; those that don't listen have them run again when their locks have expired.
   * @param timeoutMs default 30 000
   */
  close(timeoutMs?: number): Promise<void>;
}

export interface JobQueueDependencies<Payload> extends QueueOptions<Payload> {
  readonly name: string;
  readonly backend: QueueBackend;
  readonly metrics: JobMetrics;
  readonly logger: Logger;
}

/** A lost worker is no fault of the job, so it is put back more often than BullMQ's default of once. */
const STALLED_COUNT_MAX = 10;
const LOCK_MS = 30_000;
const CLOSE_TIMEOUT_MS = 30_000;
/** What handlers have left to notice that their signal is aborted. */
const ABORT_GRACE_MS = 2_000;
const SCHEDULE_CHECK_MS = 60_000;
const LOOK_MS = 250;

export function createJobQueue<Payload>(options: JobQueueDependencies<Payload>): JobQueue<Payload> {
  const { name, schema, backend, logger } = options;
  const { Queue } = withBackend(backend.factory);
  const defaultJobOptions = jobOptionsOf(options);
  const queue = new Queue<unknown, void>(name, { connection: true, prefix: backend.prefix, defaultJobOptions });
  const { watch } = backend;
  const failures = createFailureLog(name, logger);
  queue.on('error', (error) => tellUnlessAway(watch, () => failures.tell(error, 'Queue failed')));
  const workers: RunningWorker[] = [];
  const schedules = createKeptSchedules({
    name,
    checkMs: options.scheduleCheckMs ?? SCHEDULE_CHECK_MS,
    logger,
    isUp: watch.isUp,
  });
  // A server that was away may have come back empty.
  const forget = watch.onUp(() => schedules.lookNow());
  let closed: Promise<void> | undefined;

  async function depth(): Promise<QueueDepth> {
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
    const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
    return { waiting, active, delayed, failed };
  }
  const unwatch = options.metrics.watchDepth(name, { read: depth, isUp: watch.isUp });

  function requireUp(): void {
    if (!watch.isUp()) throw jobsAway(name);
  }

  function entry(id: string, payload: unknown, addOptions: AddOptions | undefined) {
    const data: unknown = checkPayload(schema, payload, name, id);
    const delay = addOptions?.delayMs === undefined ? {} : { delay: addOptions.delayMs };
    return { name, data, opts: { jobId: encodeJobId(id), ...delay } };
  }

  return {
    name,
    depth,
    async add(id, payload, addOptions) {
      requireUp();
      const { data, opts } = entry(id, payload, addOptions);
      await queue.add(name, data, opts);
    },
    async addBulk(jobs, addOptions) {
      requireUp();
      await queue.addBulk(jobs.map(({ id, payload }) => entry(id, payload, addOptions)));
    },
    async work(handler, { concurrency }) {
      workers.push(await startWorker(options, handler, concurrency));
    },
    async schedule(id, payload, { everyMs }) {
      const data: unknown = checkPayload(schema, payload, name, id);
      const key = encodeJobId(id);
      const put = async (): Promise<void> => {
        await queue.upsertJobScheduler(key, { every: everyMs }, { name, data, opts: defaultJobOptions });
      };
      if (watch.isUp()) await unlessItGoesAway(watch, put());
      schedules.keep(id, async () => {
        if (!watch.isUp()) return;
        // Only where it is gone: putting it again would begin its interval anew.
        if ((await queue.getJobScheduler(key)) !== undefined) return;
        await put();
        logger.warn({ queue: name, schedule: id }, 'Schedule was lost and is made again');
      });
    },
    async unschedule(id) {
      await schedules.drop(id);
      await queue.removeJobScheduler(encodeJobId(id));
    },
    close(timeoutMs = CLOSE_TIMEOUT_MS) {
      unwatch();
      forget();
      schedules.close();
      closed ??= Promise.all(workers.map((worker) => worker.close(timeoutMs))).then(
        async () => void (await settlesWithin(queue.close(), ABORT_GRACE_MS)),
      );
      return closed;
    },
  };
}

function jobOptionsOf(options: QueueOptions<unknown>) {
  return {
    attempts: options.attempts ?? 1,
    removeOnComplete: options.removeOnComplete ?? true,
    removeOnFail: options.removeOnFail ?? true,
    ...(options.backoff === undefined ? {} : { backoff: { type: 'custom' } }),
  };
}

interface RunningWorker {
  close(timeoutMs: number): Promise<void>;
}

async function startWorker<Payload>(
  options: JobQueueDependencies<Payload>,
  handler: (job: Job<Payload>) => Promise<void>,
  concurrency: number,
): Promise<RunningWorker> {
  const { name, backend, metrics, logger } = options;
  const { Worker } = withBackend(backend.factory);
  const abandoned = new AbortController();
  const attempt = { ...options, handler, signal: abandoned.signal };
  const worker = new Worker<unknown, void>(name, (job, token) => attemptJob(attempt, job, token), {
    connection: true,
    prefix: backend.prefix,
    concurrency,
    lockDuration: options.lockMs ?? LOCK_MS,
    stalledInterval: options.lockMs ?? LOCK_MS,
    maxStalledCount: STALLED_COUNT_MAX,
    ...(options.backoff === undefined ? {} : { settings: { backoffStrategy: options.backoff } }),
  });
  metrics.worked(name);
  const failures = createFailureLog(name, logger);
  worker.on('error', (error) =>
    tellUnlessAway(backend.watch, () => failures.tell(error, 'Worker failed outside of a job')),
  );
  worker.on('stalled', (jobId) => {
    metrics.finished(name, 'stalled');
    logger.warn({ queue: name, job_id: decodeJobId(jobId) }, 'Job put back: its worker died');
  });
  if (backend.watch.isUp()) await unlessItGoesAway(backend.watch, worker.waitUntilReady());
  return {
    async close(timeoutMs) {
      const closing = worker.close();
      if (await settlesWithin(closing, timeoutMs)) return;
      abandoned.abort(new Error('The process ends and waits for its jobs no longer'));
      if (await settlesWithin(closing, ABORT_GRACE_MS)) return;
      logger.error({ queue: name }, 'Handlers do not end: their jobs run again once their locks have expired');
    },
  };
}

/** What is wrong while the queues' home is away follows from that, and was told. */
function tellUnlessAway(watch: BackendWatch, tell: () => void): void {
  void watch.look().then((isUp) => {
    if (isUp && watch.isSteady()) tell();
  });
}

/** Waits for what the queues' home is to answer, for as long as it is there. */
async function unlessItGoesAway(watch: BackendWatch, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  // When it goes away first, the watch tells of that, and what was asked fails unheard.
  done.catch(() => undefined);
  while (!isDone && watch.isUp()) await Promise.race([done, pause(LOOK_MS)]);
  if (isDone) await done;
}
