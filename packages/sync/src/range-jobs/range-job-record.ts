/** The row of a running job. The lease of its chain fences each change: a process that lost the lease can't write. */
import { ChainsteadError, errorText } from '@chainstead/core';
import type { Database, Leadership } from '@chainstead/db';
import { RangeJobAbandonedError, type VerifyOutcome } from './range-job.ts';
import { JOB_COLUMNS, type RangeJobRow } from './range-job-store.ts';

/** Progress of a job. */
export interface RangeJobProgress {
  readonly done: number;
  readonly total: number;
  readonly logs: number;
  readonly position: number | null;
  readonly outcome: VerifyOutcome | null;
}

/** Status in which a process leaves a job. */
export type RangeJobEnd =
  | { readonly status: 'done' | 'cancelled' }
  | { readonly status: 'failed'; readonly error: unknown }
  /** To be continued: immediately if the process ends, or after a delay. */
  | { readonly status: 'queued'; readonly error: unknown; readonly waitSeconds: number };

export interface RangeJobRecord {
  /** Takes the next due job of the chain, interrupted jobs first; null: there is none. */
  begin(): Promise<RangeJobRow | null>;
  /** Stores progress. @returns true if the job was cancelled or is no longer running */
  save(id: string, progress: RangeJobProgress): Promise<boolean>;
  end(id: string, end: RangeJobEnd): Promise<void>;
}

/** Maximum number of attempts without progress. */
export const ATTEMPTS_MAX = 6;
const MESSAGE_MAX = 2_000;

export function createRangeJobRecord(database: Database, leadership: Leadership, chain: string): RangeJobRecord {
  const fenced = <Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> =>
    database.transaction(async (transaction) => {
      await leadership.confirm(transaction);
      return transaction.query<Row>(text, values);
    });

  async function end(id: string, given: RangeJobEnd): Promise<void> {
    const { status } = given;
    const error = 'error' in given ? given.error : null;
    const code = error === null ? null : error instanceof ChainsteadError ? error.code : 'UNEXPECTED';
    await fenced(
      `UPDATE range_jobs SET status = $2, error_code = $3, error_message = $4, updated_at = now(),
         finished_at = CASE WHEN $2 = 'queued' THEN NULL ELSE now() END,
         attempts = CASE WHEN $2 = 'queued' AND $3::text IS NULL THEN greatest(attempts - 1, 0) ELSE attempts END,
         due_at = CASE WHEN $5::float8 > 0 THEN now() + $5 * interval '1 second' END
        WHERE id = $1 AND status = 'running'`,
      [
        id,
        status,
        code,
        error === null ? null : errorText(error).slice(0, MESSAGE_MAX),
        'waitSeconds' in given ? given.waitSeconds : 0,
      ],
    );
  }

  return {
    async begin() {
      for (;;) {
        const [row] = await fenced<RangeJobRow>(
          `UPDATE range_jobs AS job SET status = 'running', taken_at = now(), done_before = done, attempts = attempts + 1, due_at = NULL,
             updated_at = now()
            WHERE id = (SELECT id FROM range_jobs WHERE chain = $1 AND status IN ('queued', 'running')
                          AND coalesce(due_at, '-infinity') <= now() ORDER BY status DESC, id LIMIT 1)
            RETURNING ${JOB_COLUMNS}`,
          [chain],
        );
        if (row === undefined) return null;
        if (row.cancel_asked_at !== null) await end(row.id, { status: 'cancelled' });
        else if (row.attempts > ATTEMPTS_MAX)
          await end(row.id, { status: 'failed', error: new RangeJobAbandonedError(row.id, row.attempts - 1) });
        else return row;
      }
    },
    async save(id, { done, total, logs, position, outcome }) {
      const [row] = await fenced<{ is_ending: boolean }>(
        `UPDATE range_jobs SET total = $3, logs = $4, position = $5, outcome = $6::jsonb, updated_at = now(),
           attempts = CASE WHEN $2 > done THEN 1 ELSE attempts END, error_code = CASE WHEN $2 > done THEN NULL ELSE error_code END,
           error_message = CASE WHEN $2 > done THEN NULL ELSE error_message END, done = $2
          WHERE id = $1 AND status = 'running' RETURNING cancel_asked_at IS NOT NULL AS is_ending`,
        [id, done, total, logs, position, outcome === null ? null : JSON.stringify(outcome)],
      );
      return row?.is_ending ?? true;
    },
    end,
  };
}
