/** Loads BullMQ at its first use: 300 modules, and most processes run no schedules. */
import type { Finding } from '@chainstead/core';
import type { PostgresBackendOptions } from './postgres-backend.ts';
import type { Schedules, SchedulesOptions } from './schedules.ts';

export async function createSchedules(options: SchedulesOptions): Promise<Schedules> {
  const schedules = await import('./schedules.ts');
  return schedules.createSchedules(options);
}

/** After it, a role that can't create schemas can start. @throws {ScheduleError} */
export async function migrateJobs(
  options: Pick<PostgresBackendOptions, 'databaseUrl' | 'logger'>,
): Promise<void> {
  const backend = await import('./postgres-backend.ts');
  await backend.migrateJobs(options);
}

export async function examineRedis(redisUrl: string): Promise<Finding[]> {
  const redis = await import('./examine-redis.ts');
  return redis.examineRedis(redisUrl);
}
