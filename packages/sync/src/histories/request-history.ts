import { type Database, transactionLock } from '@chainstead/db';
import { NO_ARCHIVE, SET_ASIDE } from './history-record.ts';
import { type Subject, subjectKey } from './subject.ts';

export interface HistoryRequest {
  readonly subject: Subject;
  /** Who asks: the key's id, or null on an open server. */
  readonly requestedBy: string | null;
  /** Histories that one key may have unfinished at once. */
  readonly perKey: number;
  /** Node calls of one history at most (`ON_DEMAND_MAX_CALLS`): one that was refused for more is tried again under a higher limit. */
  readonly maxCalls: number;
}

/** What became of a request: `requested` for the one that starts work; `known` while there is nothing to start; `full` when the key has too many. */
export type RequestOutcome = 'requested' | 'known' | 'full';

/**
 * A finished history is not looked at again for this long, one that was set aside or lacks an archive node neither, and one that would take too many
 * calls not without a higher limit. Seconds.
 */
const DONE_REST_SECONDS = 30;
const SET_ASIDE_REST_SECONDS = 3_600;
const REFUSED_REST_SECONDS = 86_400;

/**
 * Asks for a history, once: of any number of requests at any time, from any process, one is `requested`. What was finished
 * begins again where something is missing since (the caller has looked), what failed is left to its back-off.
 */
export async function requestHistory(database: Database, request: HistoryRequest): Promise<RequestOutcome> {
  const { subject, requestedBy, perKey, maxCalls } = request;
  if (!(await mayBegin(database, request))) return 'known';
  return database.transaction(async (transaction) => {
    // Requests of one key are counted one at a time.
    await transactionLock(transaction, `histories:${subject.chainId}:${requestedBy ?? ''}`);
    const [unfinished] = await transaction.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM subject_histories
        WHERE chain_id = $1 AND status IN ('pending', 'running', 'failed') AND requested_by IS NOT DISTINCT FROM $2`,
      [subject.chainId, requestedBy],
    );
    if (unfinished !== undefined && unfinished.count >= perKey) return 'full';
    const begun = await transaction.query(
      `INSERT INTO subject_histories AS history (chain_id, kind, subject, requested_by) VALUES ($1, $2, $3, $4)
       ON CONFLICT (chain_id, kind, subject) DO UPDATE
         SET status = 'pending', requested_by = excluded.requested_by, requested_at = now(), updated_at = now(), due_at = NULL,
             attempts = 0, calls_estimated = NULL, calls_made = 0, error_code = NULL, error_message = NULL
         WHERE ${mayBeginAgain('$5')}
       RETURNING 1 AS begun`,
      [...subjectKey(subject), requestedBy, maxCalls],
    );
    return begun.length === 1 ? 'requested' : 'known';
  });
}

/** Most requests come while there is nothing to begin: they take no lock. */
async function mayBegin(database: Database, { subject, maxCalls }: HistoryRequest): Promise<boolean> {
  const [history] = await database.query<{ again: boolean }>(
    `SELECT ${mayBeginAgain('$4')} AS again FROM subject_histories AS history
      WHERE chain_id = $1 AND kind = $2 AND subject = $3`,
    [...subjectKey(subject), maxCalls],
  );
  return history?.again ?? true;
}

function mayBeginAgain(maxCalls: string): string {
  return `(history.status = 'done' AND history.updated_at < now() - interval '${DONE_REST_SECONDS} seconds'
    OR history.status = 'refused' AND CASE
      WHEN history.error_code IN ('${SET_ASIDE}', '${NO_ARCHIVE}') THEN history.updated_at < now() - interval '${SET_ASIDE_REST_SECONDS} seconds'
      ELSE history.calls_estimated <= ${maxCalls}::int
        OR history.updated_at < now() - interval '${REFUSED_REST_SECONDS} seconds' END)`;
}
