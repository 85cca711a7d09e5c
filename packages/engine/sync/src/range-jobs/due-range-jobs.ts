import { type Database, sql } from '@chainstead/db';
import { type Claim, type DueTable, isClaimed, SETTLED } from '@chainstead/jobs';
import type { RangeJob, VerifyOutcome } from './range-job.ts';

export const RANGE_JOB_WORK = 'range-jobs';

/** A process works on one job at a time, of any chain. */
export const ALL_CHAINS = { id: 0, key: 'all' } as const;

export interface RangeJobProgress {
  readonly done: number;
  readonly total: number | null;
  readonly logs: number;
  /** All blocks below it are done; null: none is. */
  readonly position: number | null;
  readonly outcome: VerifyOutcome | null;
}

export interface DueRangeJob
  extends RangeJobProgress,
    Pick<RangeJob, 'id' | 'chain' | 'work' | 'dataset' | 'ranges'> {
  readonly isCancelled: boolean;
}

export const DUE_RANGE_JOB_COLUMNS = sql`work.id, work.chain, work.work, work.dataset, work.ranges, work.done, work.total, work.logs,
  work.position, work.outcome, work.cancel_asked_at IS NOT NULL AS "isCancelled"`;

/** Only the first of a chain, interrupted ones before others: no two of a chain are claimed. */
export function dueRangeJobs(chains: readonly string[]): DueTable {
  const first = sql`SELECT first.id FROM range_jobs AS first
      WHERE first.chain = range_jobs.chain AND first.status = 'queued' AND (first.lease_until IS NOT NULL OR first.due_at <= now())
      ORDER BY first.lease_until IS NULL, first.id LIMIT 1`;
  const isLast = sql`later.moment IS NULL`;
  return {
    name: 'range_jobs',
    key: ['id'],
    isShared: true,
    isOpen: sql`status = 'queued' AND chain = ANY (${chains}::text[]) AND id = (${first})`,
    order: sql`lease_until IS NULL, id`,
    onClaim: sql`taken_at = now(), done_before = work.done, updated_at = now()`,
    onFailure: sql`status = CASE WHEN ${isLast} THEN 'failed' ELSE status END, finished_at = CASE WHEN ${isLast} THEN now() END, updated_at = now()`,
  };
}

/** Progress forgives earlier failures. Stores nothing if it is no longer claimed. @returns whether it was cancelled */
export async function saveRangeJob(
  database: Pick<Database, 'query'>,
  table: DueTable,
  claim: Claim<unknown>,
  { done, total, logs, position, outcome }: RangeJobProgress,
): Promise<boolean> {
  const isFurther = sql`${done} > done`;
  const json = outcome === null ? null : JSON.stringify(outcome);
  const [job] = await database.query<{ isCancelled: boolean }>(
    sql`UPDATE range_jobs SET total = ${total}, logs = ${logs}, position = ${position}, outcome = ${json}::jsonb, updated_at = now(),
       attempts = CASE WHEN ${isFurther} THEN 1 ELSE attempts END, error_code = CASE WHEN ${isFurther} THEN NULL ELSE error_code END,
       error_message = CASE WHEN ${isFurther} THEN NULL ELSE error_message END, done = ${done}
      WHERE ${isClaimed(table, claim)} RETURNING cancel_asked_at IS NOT NULL AS "isCancelled"`,
  );
  return job?.isCancelled ?? false;
}

export async function endRangeJob(
  database: Pick<Database, 'query'>,
  table: DueTable,
  claim: Claim<unknown>,
  status: 'done' | 'cancelled',
): Promise<void> {
  await database.query(
    sql`UPDATE range_jobs SET ${SETTLED}, status = ${status}, finished_at = now(), updated_at = now() WHERE ${isClaimed(table, claim)}`,
  );
}
