import { ChainsteadError, errorText } from '@chainstead/core';
import type { PayloadSchema } from './payload-schema.ts';

/** What can go wrong with queues and jobs. Codes: JOB_PAYLOAD_INVALID, JOBS_AWAY, JOBS_BACKEND_AMBIGUOUS, JOBS_REDIS_EVICTS, JOBS_SCHEMA_FORBIDDEN. */
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

/** The schema is missing or from an earlier version, or not this role's to use. */
export function schemaForbidden(schema: string, cause: unknown): JobError {
  return new JobError({
    code: 'JOBS_SCHEMA_FORBIDDEN',
    message: `The job queue's schema ${schema} can't be used or brought up to date: ${errorText(cause)}`,
    facts: { schema },
    remedy:
      'Run "chainstead migrate" as a role that may create schemas in the database, then grant this role what docs/operating.md lists; or set REDIS_URL',
    retryable: false,
    cause,
  });
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

/** Whether an error tells of nothing but queues that can't be reached. */
export function areJobsAway(error: unknown): boolean {
  return error instanceof JobError && error.code === 'JOBS_AWAY';
}
