import { setTimeout as pause } from 'node:timers/promises';
import { ChainsteadError, errorText, type Logger } from '@chainstead/core';
import { failureLevel, isOutage, outageOr } from '@chainstead/db';
import { type Job as BullJob, DelayedError, UnrecoverableError, WaitingError } from 'bullmq';
import type { Job } from './job.ts';
import { areJobsAway, checkPayload } from './job-error.ts';
import { decodeJobId } from './job-id.ts';
import type { JobMetrics } from './job-metrics.ts';
import type { PayloadSchema } from './payload-schema.ts';

export interface AttemptOptions<Payload> {
  readonly name: string;
  readonly schema: PayloadSchema<Payload>;
  readonly attempts?: number;
  readonly handler: (job: Job<Payload>) => Promise<void>;
  readonly signal: AbortSignal;
  readonly metrics: JobMetrics;
  readonly logger: Logger;
}

/** A job that an outage of the database broke off waits so long before it is tried again. */
const AFTER_OUTAGE_MS = 1_000;

/**
 * Runs the handler once and tells BullMQ what came of it by what it throws: nothing for success, UnrecoverableError for
 * what no further attempt would mend, WaitingError for a job that was put back unfinished because the process ends,
 * DelayedError for one that was put back because the database or the queues' home is away, which is no fault of the job.
 */
export async function attemptJob<Payload>(
  options: AttemptOptions<Payload>,
  job: BullJob<unknown, void>,
  token: string | undefined,
): Promise<void> {
  const { name, metrics, signal } = options;
  const id = decodeJobId(job.id ?? '');
  const attempt = job.attemptsMade + 1;
  const started = performance.now();
  try {
    const payload = checkPayload(options.schema, job.data, name, id);
    await options.handler({ id, payload, attempt, signal });
    metrics.finished(name, 'completed');
  } catch (error) {
    // An interrupted attempt doesn't count: the next process finds the job waiting.
    if (signal.aborted) {
      metrics.finished(name, 'interrupted');
      await job.moveToWait(token);
      throw new WaitingError();
    }
    if (isOutage(error) || areJobsAway(error)) {
      metrics.finished(name, 'interrupted');
      await putBack(options, job, token);
      throw new DelayedError();
    }
    throw failure(options, { id, attempt, error });
  } finally {
    metrics.took(name, (performance.now() - started) / 1000);
  }
}

/** The queue may live in the database that is away: tries until that answers, or the job's lock is lost to another worker. */
async function putBack<Payload>(
  { signal }: AttemptOptions<Payload>,
  job: BullJob<unknown, void>,
  token: string | undefined,
): Promise<void> {
  for (;;)
    try {
      await job.moveToDelayed(Date.now() + AFTER_OUTAGE_MS, token);
      return;
    } catch (error) {
      if (signal.aborted || !isOutage(outageOr(error))) throw error;
      await pause(AFTER_OUTAGE_MS);
    }
}

interface FailedAttempt {
  readonly id: string;
  readonly attempt: number;
  readonly error: unknown;
}

function failure<Payload>(options: AttemptOptions<Payload>, failed: FailedAttempt): unknown {
  const { error } = failed;
  const pointless = error instanceof ChainsteadError && !error.retryable;
  const last = pointless || failed.attempt >= (options.attempts ?? 1);
  options.metrics.finished(options.name, last ? 'failed' : 'retried');
  const fields = { queue: options.name, job_id: failed.id, attempt: failed.attempt, err: error };
  if (last) options.logger.error(fields, 'Job failed for good');
  else options.logger[failureLevel(error)](fields, 'Job failed and will be tried again');
  return pointless ? new UnrecoverableError(errorText(error)) : error;
}
