import { ChainsteadError, errorText } from '@chainstead/core';
import { type Database, type Leadership, rawSql, type Sql, sql } from '@chainstead/db';
import { RangeJobAbandonedError, type VerifyOutcome } from './range-job.ts';
import { JOB_COLUMNS, type StoredRangeJob } from './range-job-store.ts';

export interface RangeJobProgress {
  readonly done: number;
  readonly total: number;
  readonly logs: number;
  readonly position: number | null;
  readonly outcome: VerifyOutcome | null;
}

export type RangeJobEnd =
  | { readonly status: 'done' | 'cancelled' }
  | { readonly status: 'failed'; readonly error: unknown }
  /** Continued at once if the process ends, or after a delay. */
  | { readonly status: 'queued'; readonly error: unknown; readonly waitSeconds: number };

export interface RangeJobRecord {
  /** Interrupted jobs first; null: none is due. */
  begin(): Promise<StoredRangeJob | null>;
  /** True if the job was cancelled or is no longer running. */
  save(id: string, progress: RangeJobProgress): Promise<boolean>;
  end(id: string, end: RangeJobEnd): Promise<void>;
}

export const ATTEMPTS_MAX = 6;
const MESSAGE_MAX = 2_000;

export function createRangeJobRecord(database: Database, leadership: Leadership, chain: string): RangeJobRecord {
  const fenced = <Result extends object>(statement: Sql): Promise<Result[]> =>
    database.transaction(async (transaction) => {
      await leadership.confirm(transaction);
      return transaction.query<Result>(statement);
    });

  async function end(id: string, outcome: RangeJobEnd): Promise<void> {
    const { status } = outcome;
    const error = 'error' in outcome ? outcome.error : null;
    const code = error === null ? null : error instanceof ChainsteadError ? error.code : 'UNEXPECTED';
    const message = error === null ? null : errorText(error).slice(0, MESSAGE_MAX);
    const waitSeconds = sql`${'waitSeconds' in outcome ? outcome.waitSeconds : 0}::float8`;
    const isQueued = status === 'queued';
    await fenced(
      sql`UPDATE range_jobs SET status = ${status}, error_code = ${code}, error_message = ${message}, updated_at = now(),
         finished_at = ${rawSql(isQueued ? 'NULL' : 'now()')},
         attempts = ${rawSql(isQueued && code === null ? 'greatest(attempts - 1, 0)' : 'attempts')},
         due_at = CASE WHEN ${waitSeconds} > 0 THEN now() + ${waitSeconds} * interval '1 second' END
        WHERE id = ${id} AND status = 'running'`,
    );
  }

  return {
    async begin() {
      for (;;) {
        const [job] = await fenced<StoredRangeJob>(
          sql`UPDATE range_jobs AS job SET status = 'running', taken_at = now(), done_before = done, attempts = attempts + 1, due_at = NULL,
             updated_at = now()
            WHERE id = (SELECT id FROM range_jobs WHERE chain = ${chain} AND status IN ('queued', 'running')
                          AND coalesce(due_at, '-infinity') <= now() ORDER BY status DESC, id LIMIT 1)
            RETURNING ${JOB_COLUMNS}`,
        );
        if (job === undefined) return null;
        if (job.isCancelled) await end(job.id, { status: 'cancelled' });
        else if (job.attempts > ATTEMPTS_MAX)
          await end(job.id, { status: 'failed', error: new RangeJobAbandonedError(job.id, job.attempts - 1) });
        else return job;
      }
    },
    async save(id, { done, total, logs, position, outcome }) {
      const isFurther = sql`${done} > done`;
      const json = outcome === null ? null : JSON.stringify(outcome);
      const [job] = await fenced<{ isCancelled: boolean }>(
        sql`UPDATE range_jobs SET total = ${total}, logs = ${logs}, position = ${position}, outcome = ${json}::jsonb, updated_at = now(),
           attempts = CASE WHEN ${isFurther} THEN 1 ELSE attempts END, error_code = CASE WHEN ${isFurther} THEN NULL ELSE error_code END,
           error_message = CASE WHEN ${isFurther} THEN NULL ELSE error_message END, done = ${done}
          WHERE id = ${id} AND status = 'running' RETURNING cancel_asked_at IS NOT NULL AS "isCancelled"`,
      );
      return job?.isCancelled ?? true;
    },
    end,
  };
}
