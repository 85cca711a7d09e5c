import { type Database, sql, type Transaction, transactionLock, where } from '@chainstead/db';
import { type Claim, type DueTable, dueChannel, isClaimed, SETTLED } from '@chainstead/jobs';
import {
  NoSuchRangeJobError,
  type RangeJob,
  RangeJobKnownError,
  type RangeJobRequest,
  type RangeWork,
  TooManyRangeJobsError,
  type VerifyOutcome,
} from './range-job.ts';

const OPEN_MAX = 100;
const FINISHED_MAX = 1_000;

/** The time of Postgres: the same for all machines. */
const NEW_ID = sql`to_char(extract(epoch FROM clock_timestamp()) * 1000000, 'FM0000000000000000') || substr(md5(random()::text), 1, 8)`;

const IS_HELD = sql`coalesce(job.lease_until > now(), false)`;

const JOB_COLUMNS = sql`job.id, job.chain, job.work, job.dataset, job.ranges, job.cancel_asked_at IS NOT NULL AS "isCancelled",
  CASE WHEN job.lease_until IS NULL THEN job.status ELSE 'running' END AS status,
  CASE WHEN ${IS_HELD} THEN regexp_replace(job.holder, ' (\\d+) \\S+ \\d+$', ', process \\1') END AS holder,
  job.done, job.total, job.logs, job.outcome, job.requested_by, job.requested_at,
  job.finished_at, CASE WHEN job.due_at > now() THEN job.due_at END AS "dueAt", job.done_before,
  CASE WHEN job.error_code IS NOT NULL THEN jsonb_build_object('code', job.error_code, 'message', coalesce(job.error_message, '')) END AS error,
  extract(epoch FROM job.updated_at - job.taken_at)::float8 AS "takenSeconds"`;

interface StoredRangeJob extends Omit<RangeJob, 'isEnding' | 'perSecond' | 'secondsLeft'> {
  readonly isCancelled: boolean;
  readonly doneBefore: number;
  /** From the start of the current attempt to the last update. */
  readonly takenSeconds: number | null;
}

/** In the transaction of the audit entry. @throws TooManyRangeJobsError, RangeJobKnownError */
export async function requestRangeJob(transaction: Transaction, request: RangeJobRequest): Promise<string> {
  const { chain, work, dataset, requestedBy } = request;
  const ranges = JSON.stringify(request.ranges.map(({ from, to }) => ({ from, to })));
  await transactionLock(transaction, 'range-jobs');
  const open = await transaction.query<{ id: string; isSame: boolean }>(
    sql`SELECT id, chain = ${chain} AND work = ${work} AND dataset IS NOT DISTINCT FROM ${dataset} AND ranges = ${ranges}::jsonb AS "isSame"
       FROM range_jobs WHERE status = 'queued'`,
  );
  const same = open.find(({ isSame }) => isSame);
  if (same !== undefined) throw new RangeJobKnownError(same.id);
  if (open.length >= OPEN_MAX) throw new TooManyRangeJobsError(OPEN_MAX);
  await transaction.query(
    sql`DELETE FROM range_jobs WHERE id IN (
       SELECT id FROM range_jobs WHERE status <> 'queued' ORDER BY id DESC OFFSET ${FINISHED_MAX})`,
  );
  const [made] = await transaction.query<{ id: string }>(
    sql`INSERT INTO range_jobs (id, chain, work, dataset, ranges, requested_by) VALUES (${NEW_ID}, ${chain}, ${work}, ${dataset}, ${ranges}::jsonb, ${requestedBy}) RETURNING id`,
  );
  transaction.notify(dueChannel(RANGE_JOB_WORK, ALL_CHAINS.id));
  return made?.id ?? '';
}

interface RangeJobsRequested {
  readonly before?: string | undefined;
  readonly limit: number;
  /** `open`: queued and running. Absent: all. */
  readonly state?: 'open' | 'finished' | undefined;
  readonly chain?: string | undefined;
}

export async function listRangeJobs(
  database: Pick<Database, 'query'>,
  { before, limit, state, chain }: RangeJobsRequested,
): Promise<RangeJob[]> {
  const conditions = [
    ...(before === undefined ? [] : [sql`job.id < ${before}`]),
    ...(chain === undefined ? [] : [sql`job.chain = ${chain}`]),
    ...(state === undefined ? [] : [sql`(job.status = 'queued') = ${state === 'open'}`]),
  ];
  const jobs = await database.query<StoredRangeJob>(
    sql`SELECT ${JOB_COLUMNS} FROM range_jobs AS job ${where(conditions)} ORDER BY job.id DESC LIMIT ${limit}`,
  );
  return jobs.map(withPace);
}

/** At once, or within seconds if a process works on it. Blocks stay. @throws NoSuchRangeJobError */
export async function cancelRangeJob(transaction: Transaction, id: string): Promise<RangeJob> {
  const [job] = await transaction.query<StoredRangeJob>(
    sql`UPDATE range_jobs AS job SET cancel_asked_at = coalesce(cancel_asked_at, now()), updated_at = now(),
       status = CASE WHEN ${IS_HELD} THEN status ELSE 'cancelled' END, finished_at = CASE WHEN NOT ${IS_HELD} THEN now() END,
       lease_until = CASE WHEN ${IS_HELD} THEN lease_until END, holder = CASE WHEN ${IS_HELD} THEN holder END,
       due_at = CASE WHEN ${IS_HELD} THEN due_at END
      WHERE id = ${id} AND status = 'queued' RETURNING ${JOB_COLUMNS}`,
  );
  if (job === undefined) throw new NoSuchRangeJobError(id);
  return withPace(job);
}

/** Blocks per second of the last 5 completed jobs of a chain; null: there are none. */
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

function withPace({ isCancelled, doneBefore, takenSeconds: seconds, ...job }: StoredRangeJob): RangeJob {
  const isRunning = job.status === 'running';
  const blocks = job.done - doneBefore;
  const perSecond = isRunning && seconds !== null && seconds > 0 && blocks > 0 ? blocks / seconds : null;
  return {
    ...job,
    isEnding: isRunning && isCancelled,
    perSecond,
    secondsLeft: perSecond === null || job.total === null ? null : Math.max(0, job.total - job.done) / perSecond,
  };
}

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
