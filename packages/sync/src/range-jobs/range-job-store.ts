/** Requests, lists and cancels jobs, in the table `range_jobs`. */
import type { BlockRange } from '@chainstead/core';
import { type Database, LEASE_IS_HELD, sql, type Transaction, transactionLock, where } from '@chainstead/db';
import {
  NoSuchRangeJobError,
  type RangeJob,
  RangeJobKnownError,
  type RangeJobRequest,
  type RangeJobStatus,
  type RangeWork,
  TooManyRangeJobsError,
  type VerifyOutcome,
} from './range-job.ts';

/** Maximum number of queued and running jobs. */
const OPEN_MAX = 100;
/** Maximum number of finished jobs in the table. */
const FINISHED_MAX = 1_000;

/** SQL: id with the time of Postgres, which is the same for all machines. */
const NEW_ID = sql`to_char(extract(epoch FROM clock_timestamp()) * 1000000, 'FM0000000000000000') || substr(md5(random()::text), 1, 8)`;

/** SQL: condition that a process works on the chain of `job`. */
export const CHAIN_IS_HELD = sql`EXISTS (
  SELECT FROM leases AS lease WHERE lease.name = 'range-jobs:' || job.chain AND ${LEASE_IS_HELD})`;

export const JOB_COLUMNS = sql`job.id, job.chain, job.work, job.dataset, job.ranges, job.status, job.cancel_asked_at, job.done, job.total, job.logs,
  job.position, job.outcome, job.requested_by, job.requested_at, job.finished_at, job.due_at, job.error_code, job.error_message, job.attempts,
  job.done_before, extract(epoch FROM job.updated_at - job.taken_at)::float8 AS taken_seconds`;

export interface RangeJobRow {
  readonly id: string;
  readonly chain: string;
  readonly work: RangeWork;
  readonly dataset: string | null;
  readonly ranges: readonly BlockRange[];
  readonly status: RangeJobStatus;
  readonly cancel_asked_at: Date | null;
  readonly done: number;
  readonly total: number | null;
  readonly logs: number;
  readonly position: number | null;
  readonly outcome: VerifyOutcome | null;
  readonly requested_by: string;
  readonly requested_at: Date;
  readonly finished_at: Date | null;
  readonly due_at: Date | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly attempts: number;
  readonly done_before: number;
  /** Seconds from the start of the current attempt to the last update. */
  readonly taken_seconds: number | null;
}

/**
 * Adds a job, in the transaction in which the caller writes the audit entry.
 * @param request its ranges are ascending and not adjacent (`mergeRanges`)
 * @returns the job's id
 * @throws TooManyRangeJobsError, RangeJobKnownError
 */
export async function requestRangeJob(transaction: Transaction, request: RangeJobRequest): Promise<string> {
  const { chain, work, dataset, requestedBy } = request;
  const ranges = JSON.stringify(request.ranges.map(({ from, to }) => ({ from, to })));
  await transactionLock(transaction, 'range-jobs');
  const open = await transaction.query<{ id: string; is_same: boolean }>(
    sql`SELECT id, chain = ${chain} AND work = ${work} AND dataset IS NOT DISTINCT FROM ${dataset} AND ranges = ${ranges}::jsonb AS is_same
       FROM range_jobs WHERE status IN ('queued', 'running')`,
  );
  const same = open.find(({ is_same }) => is_same);
  if (same !== undefined) throw new RangeJobKnownError(same.id);
  if (open.length >= OPEN_MAX) throw new TooManyRangeJobsError(OPEN_MAX);
  await transaction.query(
    sql`DELETE FROM range_jobs WHERE id IN (
       SELECT id FROM range_jobs WHERE status NOT IN ('queued', 'running') ORDER BY id DESC OFFSET ${FINISHED_MAX})`,
  );
  const [made] = await transaction.query<{ id: string }>(
    sql`INSERT INTO range_jobs (id, chain, work, dataset, ranges, requested_by) VALUES (${NEW_ID}, ${chain}, ${work}, ${dataset}, ${ranges}::jsonb, ${requestedBy}) RETURNING id`,
  );
  return made?.id ?? '';
}

export interface RangeJobsRequested {
  /** Id of the job before which the page begins; absent: the newest job comes first. */
  readonly before?: string | undefined;
  readonly limit: number;
  /** `open`: queued and running jobs. Absent: all jobs. */
  readonly state?: 'open' | 'finished' | undefined;
  readonly chain?: string | undefined;
}

/** Returns jobs, newest first. */
export async function listRangeJobs(
  database: Pick<Database, 'query'>,
  { before, limit, state, chain }: RangeJobsRequested,
): Promise<RangeJob[]> {
  const conditions = [
    ...(before === undefined ? [] : [sql`job.id < ${before}`]),
    ...(chain === undefined ? [] : [sql`job.chain = ${chain}`]),
    ...(state === undefined ? [] : [sql`(job.status IN ('queued', 'running')) = ${state === 'open'}`]),
  ];
  const rows = await database.query<RangeJobRow & { holder: string | null }>(
    sql`SELECT ${JOB_COLUMNS}, CASE WHEN job.status = 'running' THEN (
         SELECT lease.holder FROM leases AS lease WHERE lease.name = 'range-jobs:' || job.chain AND ${LEASE_IS_HELD}) END AS holder
       FROM range_jobs AS job ${where(conditions)} ORDER BY job.id DESC LIMIT ${limit}`,
  );
  return rows.map((row) => toJob(row, row.holder));
}

/**
 * Cancels a job in the transaction of the caller. The job ends immediately, or within seconds if a process works on it.
 * Committed blocks stay.
 * @throws NoSuchRangeJobError
 */
export async function cancelRangeJob(transaction: Transaction, id: string): Promise<RangeJob> {
  const [row] = await transaction.query<RangeJobRow>(
    sql`UPDATE range_jobs AS job SET cancel_asked_at = coalesce(cancel_asked_at, now()), updated_at = now(),
       status = CASE WHEN status = 'running' AND ${CHAIN_IS_HELD} THEN status ELSE 'cancelled' END,
       finished_at = CASE WHEN status = 'running' AND ${CHAIN_IS_HELD} THEN finished_at ELSE now() END
      WHERE id = ${id} AND status IN ('queued', 'running') RETURNING ${JOB_COLUMNS}`,
  );
  if (row === undefined) throw new NoSuchRangeJobError(id);
  return toJob(row, null);
}

/** Returns the blocks per second of the last 5 completed jobs of a chain; null: there are none. */
export async function readRangeJobPace(
  database: Pick<Database, 'query'>,
  chain: string,
  work: RangeWork,
): Promise<number | null> {
  const [row] = await database.query<{ pace: number | null }>(
    sql`SELECT sum(blocks) / nullif(sum(seconds), 0) AS pace FROM (
       SELECT (done - done_before)::float8 AS blocks, extract(epoch FROM updated_at - taken_at)::float8 AS seconds
         FROM range_jobs WHERE chain = ${chain} AND work = ${work} AND status = 'done' AND done > done_before ORDER BY id DESC LIMIT 5) AS latest`,
  );
  return row?.pace ?? null;
}

export function toJob(row: RangeJobRow, holder: string | null): RangeJob {
  const { done, total, taken_seconds: seconds } = row;
  const got = done - row.done_before;
  const perSecond = row.status === 'running' && seconds !== null && seconds > 0 && got > 0 ? got / seconds : null;
  return {
    id: row.id,
    chain: row.chain,
    work: row.work,
    dataset: row.dataset,
    ranges: row.ranges,
    requestedBy: row.requested_by,
    status: row.status,
    isEnding: row.status === 'running' && row.cancel_asked_at !== null,
    holder,
    done,
    total,
    logs: row.logs,
    perSecond,
    secondsLeft: perSecond === null || total === null ? null : Math.max(0, total - done) / perSecond,
    outcome: row.outcome,
    requestedAt: row.requested_at,
    finishedAt: row.finished_at,
    dueAt: row.status === 'queued' ? row.due_at : null,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
  };
}
