import { type Database, type Sql, sql, transactionLock, WORK_QUARANTINED } from '@chainstead/db';
import { dueChannel } from '@chainstead/jobs';
import { isOfSubject, type Subject, subjectKey } from '../coverage/subject.ts';
import { FILES_LACK_BLOCKS, HISTORY_WORK, NO_ACTIVITY, NO_ARCHIVE, SENT_UNKNOWN } from './history-record.ts';

export interface HistoryRequest {
  readonly subject: Subject;
  /** API key that pays for the node calls; null: none does. */
  readonly requestedBy: string | null;
  readonly perKey: number;
  /** Per backfill. One refused at a lower limit is retried. */
  readonly maxCalls: number;
}

/** `known`: there is nothing to start; `full`: the key has too many. */
export type RequestOutcome = 'requested' | 'known' | 'full';

/** Until a finished, a quarantined, or a refused backfill may start again. Nodes and files may be added in between. */
const DONE_REST_SECONDS = 30;
const SET_ASIDE_REST_SECONDS = 3_600;
const REFUSED_REST_SECONDS = 86_400;

/** A finished backfill starts again: blocks are missing since. A failed one waits for its retry. */
export async function enqueueHistory(database: Database, request: HistoryRequest): Promise<RequestOutcome> {
  const { subject, requestedBy, perKey, maxCalls } = request;
  // Most requests find nothing to start: they take no lock.
  const [history] = await database.query<{ again: boolean }>(
    sql`SELECT ${mayBeginAgain(maxCalls)} AS again FROM backfill_requests AS history WHERE ${isOfSubject(subject)}`,
  );
  if (history?.again === false) return 'known';
  return database.transaction(async (transaction) => {
    // Requests of one key are counted one at a time.
    await transactionLock(transaction, `histories:${subject.chainId}:${requestedBy ?? ''}`);
    const [unfinished] = await transaction.query<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM backfill_requests
        WHERE chain_id = ${subject.chainId} AND status IN ('pending', 'running', 'failed') AND requested_by IS NOT DISTINCT FROM ${requestedBy}`,
    );
    if (unfinished !== undefined && unfinished.count >= perKey) return 'full';
    const begun = await transaction.query(
      sql`INSERT INTO backfill_requests AS history (chain_id, kind, subject, requested_by) VALUES (${subjectKey(subject)}, ${requestedBy})
       ON CONFLICT (chain_id, kind, subject) DO UPDATE
         SET status = 'pending', requested_by = excluded.requested_by, requested_at = now(), updated_at = now(), due_at = now(),
             attempts = 0, calls_estimated = NULL, error_code = NULL, error_message = NULL,
             calls_made = CASE WHEN history.error_code = ${NO_ACTIVITY} THEN history.calls_made ELSE 0 END
         WHERE ${mayBeginAgain(maxCalls)}
       RETURNING 1 AS begun`,
    );
    if (begun.length === 0) return 'known';
    transaction.notify(dueChannel(HISTORY_WORK, subject.chainId));
    return 'requested';
  });
}

function mayBeginAgain(maxCalls: number): Sql {
  const isOlder = (seconds: number): Sql => sql`history.updated_at < now() - make_interval(secs => ${seconds})`;
  return sql`(history.status = 'done' AND ${isOlder(DONE_REST_SECONDS)}
    OR history.status = 'refused' AND CASE
      WHEN history.error_code IN (${WORK_QUARANTINED}, ${NO_ARCHIVE}, ${SENT_UNKNOWN}, ${FILES_LACK_BLOCKS}) THEN ${isOlder(SET_ASIDE_REST_SECONDS)}
      ELSE history.calls_estimated <= ${maxCalls}::int OR ${isOlder(REFUSED_REST_SECONDS)} END)`;
}
