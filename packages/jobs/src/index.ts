/**
 * The door to BullMQ: typed queues on Postgres or, at higher rates, on Redis. Start reading at jobs.ts.
 */
export { examineRedis } from './examine-redis.ts';
export type { JobQueue, QueueOptions } from './job-queue.ts';
export { createJobs, type Jobs, type JobsOptions, migrateJobs } from './jobs.ts';
