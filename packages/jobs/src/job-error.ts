import { ChainsteadError, errorText } from '@chainstead/core';
import type { PayloadSchema } from './payload-schema.ts';

/** What can go wrong with queues and jobs. Codes: JOB_PAYLOAD_INVALID, JOBS_AWAY, JOBS_BACKEND_AMBIGUOUS, JOBS_REDIS_EVICTS. */
export class JobError extends ChainsteadError {}

/** @throws {JobError} JOB_PAYLOAD_INVALID */
export function checkPayload<Payload>(
  schema: PayloadSchema<Payload>,
  payload: unknown,
  queue: string,
  id: string,
): Payload {
  try {
    return schema.parse(payload);
  } catch (cause) {
    throw new JobError({
      code: 'JOB_PAYLOAD_INVALID',
      message: `The payload of job ${id} does not fit the queue ${queue}: ${errorText(cause)}`,
      facts: { queue, job_id: id },
      retryable: false,
      cause,
    });
  }
}

/** Nothing is added to queues whose home can't be reached: it would wait in memory. */
export function jobsAway(queue: string): JobError {
  return new JobError({
    code: 'JOBS_AWAY',
    message: `The home of the queue ${queue} can't be reached`,
    facts: { queue },
    remedy: 'Check the server of REDIS_URL; what was asked for meanwhile is found once it is back',
    retryable: true,
  });
}
