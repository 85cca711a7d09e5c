/** Loads BullMQ at its first use: it has 300 modules, and most processes and commands run no schedules. */
import type { Finding } from '@chainstead/core';
import type { PostgresBackendOptions } from './postgres-backend.ts';
import type { Schedules, SchedulesOptions } from './schedules.ts';

export async function createSchedules(options: SchedulesOptions): Promise<Schedules> {
  const schedules = await import('./schedules.ts');
  return schedules.createSchedules(options);
}

/** Afterwards a role without the right to create schemas can start. @throws {ScheduleError} JOBS_SCHEMA_FORBIDDEN */
export async function migrateJobs(options: Pick<PostgresBackendOptions, 'databaseUrl' | 'logger'>): Promise<void> {
  const backend = await import('./postgres-backend.ts');
  await backend.migrateJobs(options);
}

export async function examineRedis(redisUrl: string): Promise<Finding[]> {
  const redis = await import('./examine-redis.ts');
  return redis.examineRedis(redisUrl);
}
