/** One job at a time per process, and one per chain across all processes. */
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Database, failureLevel, sql, tryAcquireLeadership } from '@chainstead/db';
import { createRangeJobRecord } from './range-job-record.ts';
import { CHAIN_IS_HELD } from './range-job-store.ts';
import { type RangeJobSite, runRangeJob } from './run-range-job.ts';

export interface RangeJobsOptions {
  readonly database: Database;
  readonly sites: readonly RangeJobSite[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** @default 2000 */
  readonly idleMs?: number;
}

const IDLE_MS = 2_000;

/** Never rejects: failures are logged and stored with the job. */
export async function workRangeJobs(options: RangeJobsOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger, sites, idleMs = IDLE_MS } = options;
  if (sites.length === 0) return;
  while (!signal.aborted) {
    let isDone = false;
    try {
      isDone = await takeOne(options, signal);
    } catch (error) {
      if (!signal.aborted)
        logger[failureLevel(error)]({ error: errorText(error) }, 'Jobs on ranges could not be looked for');
    }
    if (!isDone) await sleepUnlessAborted(clock, idleMs, signal);
  }
}

async function takeOne(options: RangeJobsOptions, signal: AbortSignal): Promise<boolean> {
  const { database, clock, logger, sites } = options;
  for (const chain of await listWaitingChains(options)) {
    const site = sites.find((candidate) => candidate.chain === chain);
    if (site === undefined || signal.aborted) continue;
    const { leadership } = await tryAcquireLeadership(database, `range-jobs:${chain}`);
    if (leadership === null) continue;
    try {
      const record = createRangeJobRecord(database, leadership, chain);
      const job = await record.begin();
      if (job === null) continue;
      await runRangeJob({ site, record, clock, logger, lost: leadership.lost }, job, signal);
      return true;
    } finally {
      await leadership.release();
    }
  }
  return false;
}

async function listWaitingChains({ database, sites }: RangeJobsOptions): Promise<string[]> {
  const rows = await database.query<{ chain: string }>(
    sql`SELECT chain FROM range_jobs AS job
      WHERE status IN ('queued', 'running') AND coalesce(due_at, '-infinity') <= now() AND chain = ANY (${sites.map(({ chain }) => chain)}::text[]) AND NOT ${CHAIN_IS_HELD}
      GROUP BY chain ORDER BY min(id)`,
  );
  return rows.map(({ chain }) => chain);
}
