/** The row of a history in `subject_histories`: where its work stands. One function for each change of state. */
import { type Address, type ChainId, ChainsteadError, errorText } from '@chainstead/core';
import { type Database, hexText, type Transaction, type WorkSetAsideError } from '@chainstead/db';
import { type Subject, type SubjectKind, subjectKey } from './subject.ts';

/** `pending`: waits for a worker (or for blocks to be final, with `due_at`); `failed`: waits for its next attempt at `due_at`. */
export type HistoryStatus = 'pending' | 'running' | 'done' | 'refused' | 'failed';

/** One history as an operator sees it. */
export interface HistoryRecord {
  readonly subject: Subject;
  readonly status: HistoryStatus;
  /** Node calls that it will take in all; null before that is known. */
  readonly callsEstimated: number | null;
  readonly callsMade: number;
  readonly rowsAdded: number;
  readonly requestedAt: Date;
  /** Failed attempts since the last success. */
  readonly attempts: number;
  readonly dueAt: Date | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** As {@link HISTORY_COLUMNS} gives it. */
export interface HistoryRow {
  chain_id: ChainId;
  kind: SubjectKind;
  subject: Address;
  status: HistoryStatus;
  calls_estimated: number | null;
  calls_made: number;
  rows_added: number;
  requested_at: Date;
  attempts: number;
  due_at: Date | null;
  error_code: string | null;
  error_message: string | null;
}

/** Of `subject_histories`. */
export const HISTORY_COLUMNS = `chain_id, kind, ${hexText('subject')} AS subject, status, calls_estimated, calls_made, rows_added,
  requested_at, attempts, due_at, error_code, error_message`;
const ONE = 'chain_id = $1 AND kind = $2 AND subject = $3';

/** Takes up the work. Null when there is none (any more): finished, refused, or waiting for a later time. */
export async function beginHistory(database: Database, subject: Subject): Promise<HistoryRecord | null> {
  const [row] = await database.query<HistoryRow>(
    `UPDATE subject_histories SET status = 'running', due_at = NULL, updated_at = now()
      WHERE ${ONE} AND status IN ('pending', 'running', 'failed') AND coalesce(due_at, '-infinity') <= now()
      RETURNING ${HISTORY_COLUMNS}`,
    subjectKey(subject),
  );
  return row === undefined ? null : toRecord(row);
}

/** Calls made so far and those still expected. */
export async function saveEstimate(database: Database, subject: Subject, callsInAll: number): Promise<void> {
  await database.query(`UPDATE subject_histories SET calls_estimated = $4, updated_at = now() WHERE ${ONE}`, [
    ...subjectKey(subject),
    callsInAll,
  ]);
}

/** Locks the row until the transaction ends, and counts what a chunk took and gave. */
export async function recordProgress(
  transaction: Transaction,
  subject: Subject,
  progress: { readonly calls: number; readonly rows: number },
): Promise<void> {
  await transaction.query(
    `UPDATE subject_histories SET calls_made = calls_made + $4, rows_added = rows_added + $5, attempts = 0,
       error_code = NULL, error_message = NULL, updated_at = now() WHERE ${ONE}`,
    [...subjectKey(subject), progress.calls, progress.rows],
  );
}

export async function finishHistory(database: Database, subject: Subject): Promise<void> {
  await database.query(
    `UPDATE subject_histories SET status = 'done', due_at = NULL, attempts = 0, error_code = NULL, error_message = NULL,
       updated_at = now() WHERE ${ONE}`,
    subjectKey(subject),
  );
}

/** Puts it back: at once, or for so many milliseconds. */
export async function postponeHistory(database: Database, subject: Subject, waitMs: number): Promise<void> {
  await database.query(
    `UPDATE subject_histories SET status = 'pending', updated_at = now(),
       due_at = CASE WHEN $4::float8 > 0 THEN now() + make_interval(secs => $4::float8 / 1000) END WHERE ${ONE}`,
    [...subjectKey(subject), waitMs],
  );
}

/** It would take (or took) more node calls than one history may, `callsMin` at least. */
export async function refuseHistory(
  database: Database,
  subject: Subject,
  callsMin: number,
  message: string,
): Promise<void> {
  await database.query(
    `UPDATE subject_histories SET status = 'refused', due_at = NULL, error_code = 'HISTORY_REFUSED', error_message = $4,
       calls_estimated = greatest(calls_estimated, $5::int), updated_at = now() WHERE ${ONE}`,
    [...subjectKey(subject), message, callsMin],
  );
}

/** Why a history is refused that no upstream has the old state for. */
export const NO_ARCHIVE = 'NO_ARCHIVE';

/** No upstream has what it is told from. */
export async function refuseWithoutArchive(database: Database, subject: Subject, message: string): Promise<void> {
  await database.query(
    `UPDATE subject_histories SET status = 'refused', due_at = NULL, error_code = '${NO_ARCHIVE}', error_message = $4,
       updated_at = now() WHERE ${ONE}`,
    [...subjectKey(subject), message.slice(0, 1_000)],
  );
}

/** Why a history is refused that ended processes. */
export const SET_ASIDE = 'WORK_SET_ASIDE';

/** It ended the process several times. */
export async function setAsideHistory(database: Database, subject: Subject, error: WorkSetAsideError): Promise<void> {
  await database.query(
    `UPDATE subject_histories SET status = 'refused', due_at = NULL, error_code = '${SET_ASIDE}', error_message = $4,
       updated_at = now() WHERE ${ONE}`,
    [...subjectKey(subject), error.message],
  );
}

const FAILED_WAIT_SECONDS = 30;
const FAILED_WAIT_SECONDS_MAX = 3_600;

/** To be tried again after 30 s, 1 min, 2 min, … up to an hour. */
export async function failHistory(database: Database, subject: Subject, error: unknown): Promise<void> {
  const code = error instanceof ChainsteadError ? error.code : 'UNEXPECTED';
  await database.query(
    `UPDATE subject_histories SET status = 'failed', attempts = attempts + 1, error_code = $4, error_message = $5,
       due_at = now() + make_interval(secs => least($6::float8 * power(2, least(attempts, 20)), $7::float8)), updated_at = now()
      WHERE ${ONE}`,
    [...subjectKey(subject), code, errorText(error).slice(0, 1_000), FAILED_WAIT_SECONDS, FAILED_WAIT_SECONDS_MAX],
  );
}

/** Histories of a chain that a worker should take up: wallets before senders, receivers, emitters and contracts, first come first. */
export async function listDueHistories(database: Database, chainId: ChainId, limit: number): Promise<Subject[]> {
  const rows = await database.query<Pick<HistoryRow, 'kind' | 'subject'>>(
    `SELECT kind, ${hexText('subject')} AS subject FROM subject_histories
      WHERE chain_id = $1 AND status IN ('pending', 'running', 'failed') AND coalesce(due_at, '-infinity') <= now()
      ORDER BY kind DESC, requested_at, subject_histories.subject LIMIT $2`,
    [chainId, limit],
  );
  return rows.map((row) => ({ chainId, kind: row.kind, address: row.subject }));
}

/** What is not finished, newest changes first, and how many histories there are by chain and status. */
export async function readHistories(
  database: Database,
  limit: number,
): Promise<{
  readonly unfinished: readonly HistoryRecord[];
  readonly counts: readonly { readonly chainId: ChainId; readonly status: HistoryStatus; readonly count: number }[];
}> {
  const rows = await database.query<HistoryRow>(
    `SELECT ${HISTORY_COLUMNS} FROM subject_histories WHERE status <> 'done' ORDER BY updated_at DESC, chain_id, kind, subject LIMIT $1`,
    [limit],
  );
  const counts = await database.query<{ chainId: ChainId; status: HistoryStatus; count: number }>(
    `SELECT chain_id AS "chainId", status, count(*)::int AS count FROM subject_histories GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  return { unfinished: rows.map(toRecord), counts };
}

export function toRecord(row: HistoryRow): HistoryRecord {
  return {
    subject: { chainId: row.chain_id, kind: row.kind, address: row.subject },
    status: row.status,
    callsEstimated: row.calls_estimated,
    callsMade: row.calls_made,
    rowsAdded: row.rows_added,
    requestedAt: row.requested_at,
    attempts: row.attempts,
    dueAt: row.due_at,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
  };
}
