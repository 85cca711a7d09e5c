import { ChainsteadError, errorText } from '@chainstead/core';

/** Failure of the storage of schedules. Codes: JOBS_REDIS_EVICTS, JOBS_SCHEMA_FORBIDDEN. */
export class ScheduleError extends ChainsteadError {}

export function schemaForbidden(schema: string, cause: unknown): ScheduleError {
  return new ScheduleError({
    code: 'JOBS_SCHEMA_FORBIDDEN',
    message: `The schema ${schema} of the job queues can't be used or upgraded: ${errorText(cause)}`,
    facts: { schema },
    remedy:
      'Run "chainstead migrate" as a role that can create schemas, then grant this role the privileges listed in docs/operate/upgrade.md. Or set REDIS_URL',
    retryable: false,
    cause,
  });
}
