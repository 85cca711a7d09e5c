/**
 * The door to BullMQ: typed queues on Postgres or, at higher rates, on Redis. Start reading at jobs.ts.
 */
export { delaySchedule, exponentialBackoff } from './backoff.ts';
export type { Job } from './job.ts';
export { JobError } from './job-error.ts';
export type { AddOptions, JobQueue, QueueDepth, QueueOptions, WorkOptions } from './job-queue.ts';
export { createJobs, type Jobs, type JobsOptions } from './jobs.ts';
export type { PayloadSchema } from './payload-schema.ts';
