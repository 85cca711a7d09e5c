import { ChainsteadError, errorText } from '@chainstead/core';
import type { PayloadSchema } from './payload-schema.ts';

/** What can go wrong with queues and jobs. Codes: JOB_PAYLOAD_INVALID, JOBS_BACKEND_AMBIGUOUS, JOBS_REDIS_EVICTS. */
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
