/** Runs due work and schedules: `index.ts` is for those who declare them. */
export { type DueEntry, type DueSummary, summarizeDueWork } from './due-work/due-summary.ts';
export { createDueWork, type DueWork } from './due-work/due-work.ts';
export { createSchedules, examineRedis, migrateJobs } from './schedules/load-schedules.ts';
export type { Schedule } from './schedules/schedules.ts';
