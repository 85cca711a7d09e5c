import { type ChainId, ChainsteadError, errorText } from '@chainstead/core';
import {
  addressBytes,
  type Database,
  hexText,
  rawSql,
  sql,
  type Transaction,
  WORK_QUARANTINED,
  type WorkSetAsideError,
  where,
} from '@chainstead/db';
import type { DueTable } from '@chainstead/jobs';
import type { FilesLackBlocksError } from '@chainstead/sources';
import { isOfSubject, type Subject, subjectKey } from '../coverage/subject.ts';

/** `pending`: also until blocks are final (`due_at`); `failed`: retried at `due_at`. */
export type HistoryStatus = 'pending' | 'running' | 'done' | 'refused' | 'failed';

export interface HistoryRecord {
  readonly subject: Subject;
  readonly status: HistoryStatus;
  /** Null until known. */
  readonly callsEstimated: number | null;
  readonly callsMade: number;
  readonly rowsAdded: number;
  readonly requestedAt: Date;
  /** Since the last success. */
  readonly attempts: number;
  readonly dueAt: Date | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A turn begins with it. */
export interface BegunHistory extends HistoryRecord {
  /** API key that pays for the node calls; null: none does. */
  readonly requestedBy: string | null;
}

const HISTORY_COLUMNS = sql`json_build_object('chainId', chain_id, 'kind', kind, 'address', ${hexText('subject')}) AS subject, status,
  calls_estimated, calls_made, rows_added, requested_at,
  attempts - (holder IS NOT NULL)::int AS attempts, CASE WHEN due_at > now() THEN due_at END AS "dueAt",
  CASE WHEN error_code IS NOT NULL THEN json_build_object('code', error_code, 'message', coalesce(error_message, '')) END AS error`;

/** Running backfills of the same key. */
const AT_WORK = sql`(SELECT count(*) FROM backfill_requests AS own WHERE own.chain_id = backfill_requests.chain_id AND own.status = 'running'
    AND own.lease_until > now() AND own.requested_by IS NOT DISTINCT FROM backfill_requests.requested_by)`;

/** Keys take turns, then wallets come before other kinds. A backfill that yielded moves behind those waiting. */
export const DUE_HISTORIES: DueTable = {
  name: 'backfill_requests',
  key: ['chain_id', 'kind', 'subject'],
  isOpen: sql`status IN ('pending', 'running', 'failed')`,
  // Invariant: FAIR-BACKFILLS
  order: sql`${AT_WORK}, kind DESC, due_at, updated_at, subject`,
  onClaim: sql`status = 'running', updated_at = now()`,
};

export const HISTORY_WORK = 'history';

const UNCLAIMED = sql`lease_until = NULL, holder = NULL`;
/** A claim that yielded is not a failed attempt. */
const WITHOUT_CLAIM = sql`${UNCLAIMED}, attempts = greatest(attempts - (holder IS NOT NULL)::int, 0)`;
/** Includes the current attempt: a claim has counted it already. */
const FAILED_ATTEMPTS = sql`greatest(attempts + (holder IS NULL)::int, 1)`;

/** Claimed or not. Null if there is no work: finished, refused, or due later. */
export async function beginHistory(database: Database, subject: Subject): Promise<BegunHistory | null> {
  const [record] = await database.query<BegunHistory>(
    sql`UPDATE backfill_requests SET status = 'running', due_at = NULL, updated_at = now()
      WHERE ${isOfSubject(subject)} AND status IN ('pending', 'running', 'failed') AND coalesce(due_at, '-infinity') <= now()
      RETURNING ${HISTORY_COLUMNS}, requested_by`,
  );
  return record ?? null;
}

/** For work that a backfill causes: the same key pays for it. */
export async function readRequester(database: Database, subject: Subject): Promise<string | null> {
  const [record] = await database.query<{ requestedBy: string | null }>(
    sql`SELECT requested_by FROM backfill_requests WHERE ${isOfSubject(subject)}`,
  );
  return record?.requestedBy ?? null;
}

export async function saveEstimate(database: Database, subject: Subject, callsInAll: number): Promise<void> {
  await database.query(
    sql`UPDATE backfill_requests SET calls_estimated = ${callsInAll}, updated_at = now() WHERE ${isOfSubject(subject)}`,
  );
}

/** Also locks the row until the transaction ends. */
export async function recordProgress(
  transaction: Transaction,
  subject: Subject,
  progress: { readonly calls: number; readonly rows: number },
): Promise<void> {
  await transaction.query(
    sql`UPDATE backfill_requests SET calls_made = calls_made + ${progress.calls}, rows_added = rows_added + ${progress.rows}, attempts = 0,
       error_code = NULL, error_message = NULL, updated_at = now() WHERE ${isOfSubject(subject)}`,
  );
}

export async function finishHistory(database: Database, subject: Subject): Promise<void> {
  await database.query(
    sql`UPDATE backfill_requests SET status = 'done', due_at = NULL, ${UNCLAIMED}, attempts = 0, error_code = NULL, error_message = NULL,
       updated_at = now() WHERE ${isOfSubject(subject)}`,
  );
}

export async function postponeHistory(database: Database, subject: Subject, waitMs: number): Promise<void> {
  await database.query(
    sql`UPDATE backfill_requests SET status = 'pending', updated_at = now(), error_code = NULL, error_message = NULL, ${WITHOUT_CLAIM},
       due_at = now() + make_interval(secs => ${waitMs}::float8 / 1000) WHERE ${isOfSubject(subject)}`,
  );
}

export const CALLS_USED_UP = 'CALLS_USED_UP';

/** Postpones all waiting backfills of the key: each would find the same. */
export async function awaitCalls(
  database: Database,
  subject: Subject,
  key: string,
  waitMs: number,
): Promise<void> {
  const due = sql`now() + make_interval(secs => ${waitMs}::float8 / 1000)`;
  const message = 'The node calls of this API key are used up (ON_DEMAND_CALLS_PER_KEY): reading continues later';
  await postponeHistory(database, subject, waitMs);
  await database.query(
    sql`UPDATE backfill_requests SET due_at = ${due}, error_code = ${CALLS_USED_UP}, error_message = ${message}
      WHERE (chain_id, kind, subject) IN (SELECT chain_id, kind, subject FROM backfill_requests
        WHERE chain_id = ${subject.chainId} AND requested_by = ${key} AND status = 'pending' AND holder IS NULL AND due_at <= ${due} FOR UPDATE SKIP LOCKED)`,
  );
}

export const NO_ACTIVITY = 'NO_ACTIVITY';

/** Its blocks stay missing: the next request reads them. */
export async function putOffHistory(database: Database, subject: Subject, calls: number): Promise<void> {
  const message =
    subject.kind === 'contract' || subject.kind === 'emitter'
      ? 'This address has no code. Its older logs are read after another request'
      : 'This wallet has sent no transaction, holds no native tokens and has no code. Its older token transfers are read after another request';
  await database.query(
    sql`UPDATE backfill_requests SET status = 'done', due_at = NULL, ${UNCLAIMED}, attempts = 0, calls_made = calls_made + ${calls},
       error_code = ${NO_ACTIVITY}, error_message = ${message}, updated_at = now() WHERE ${isOfSubject(subject)}`,
  );
}

/** Whether the key waits for another address of any chain, or requested one within a day. */
export async function requestsOthers(database: Database, subject: Subject, key: string): Promise<boolean> {
  const [other] = await database.query(
    sql`SELECT FROM backfill_requests WHERE requested_by = ${key} AND subject <> ${addressBytes(subject.address)}
        AND (status IN ('pending', 'running') OR requested_at > now() - interval '1 day') LIMIT 1`,
  );
  return other !== undefined;
}

export async function refuseHistory(database: Database, subject: Subject, callsMin: number, message: string) {
  await database.query(
    sql`UPDATE backfill_requests SET status = 'refused', due_at = NULL, ${UNCLAIMED}, error_code = 'HISTORY_REFUSED', error_message = ${message},
       calls_estimated = greatest(calls_estimated, ${callsMin}::int), updated_at = now() WHERE ${isOfSubject(subject)}`,
  );
}

export const NO_ARCHIVE = 'NO_ARCHIVE';

export async function refuseWithoutArchive(database: Database, subject: Subject, message: string): Promise<void> {
  await refuse(database, subject, NO_ARCHIVE, message.slice(0, 1_000));
}

export const SENT_UNKNOWN = 'SENT_UNKNOWN';

export async function refuseWithoutSent(database: Database, subject: Subject, message: string): Promise<void> {
  await refuse(database, subject, SENT_UNKNOWN, message.slice(0, 1_000));
}

export const FILES_LACK_BLOCKS = 'FILES_LACK_BLOCKS';

export async function refuseWithoutFiles(
  database: Database,
  subject: Subject,
  error: FilesLackBlocksError,
): Promise<void> {
  await refuse(database, subject, FILES_LACK_BLOCKS, errorText(error).slice(0, 1_000));
}

export async function setAsideHistory(
  database: Database,
  subject: Subject,
  error: WorkSetAsideError,
): Promise<void> {
  await refuse(database, subject, WORK_QUARANTINED, error.message);
}

async function refuse(database: Database, subject: Subject, code: string, message: string): Promise<void> {
  await database.query(
    sql`UPDATE backfill_requests SET status = 'refused', due_at = NULL, ${UNCLAIMED}, error_code = ${code}, error_message = ${message},
       updated_at = now() WHERE ${isOfSubject(subject)}`,
  );
}

const FAILED_WAIT_SECONDS = 30;
const FAILED_WAIT_SECONDS_MAX = 3_600;

/** Retried after 30 s, 1 min, 2 min, … up to an hour. */
export async function failHistory(database: Database, subject: Subject, error: unknown): Promise<void> {
  const code = error instanceof ChainsteadError ? error.code : 'UNEXPECTED';
  await database.query(
    sql`UPDATE backfill_requests SET status = 'failed', attempts = ${FAILED_ATTEMPTS}, ${UNCLAIMED}, error_code = ${code}, error_message = ${errorText(error).slice(0, 1_000)},
       due_at = now() + make_interval(secs => least(${FAILED_WAIT_SECONDS}::float8 * power(2, least(${FAILED_ATTEMPTS} - 1, 20)), ${FAILED_WAIT_SECONDS_MAX}::float8)), updated_at = now()
      WHERE ${isOfSubject(subject)}`,
  );
}

type HistoryCount = { readonly chainId: ChainId; readonly status: HistoryStatus; readonly count: number };

export async function readHistories(database: Database, limit: number) {
  const unfinished: readonly HistoryRecord[] = await database.query<HistoryRecord>(
    sql`SELECT ${HISTORY_COLUMNS} FROM backfill_requests WHERE status <> 'done'
      ORDER BY updated_at DESC, chain_id, kind, backfill_requests.subject LIMIT ${limit}`,
  );
  const counts: readonly HistoryCount[] = await database.query<HistoryCount>(
    sql`SELECT chain_id, status, count(*)::int AS count FROM backfill_requests GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  return { unfinished, counts };
}

export interface HistoriesRequested {
  readonly chainId: ChainId | null;
  readonly status: HistoryStatus | null;
  /** Null: first page. */
  readonly after: Subject | null;
  readonly limit: number;
}

export interface HistoriesPage {
  readonly histories: readonly HistoryRecord[];
  /** Null: last page. A page may be short or empty although others follow. */
  readonly next: Subject | null;
}

const LOOKED_AT = 20_000;

/** By chain, kind and subject. Scans a limited number of rows, even if few match. */
export async function listHistories(
  database: Pick<Database, 'query'>,
  requested: HistoriesRequested,
): Promise<HistoriesPage> {
  const { chainId, status, after, limit } = requested;
  const conditions = [
    ...(chainId === null ? [] : [sql`chain_id = ${chainId}`]),
    ...(after === null ? [] : [sql`(chain_id, kind, subject) > (${subjectKey(after)})`]),
  ];
  const from = sql`FROM backfill_requests ${where(conditions)} ORDER BY chain_id, kind, subject`;
  const found = await database.query<HistoryRecord>(
    sql`SELECT ${HISTORY_COLUMNS} FROM (SELECT * ${from} LIMIT ${rawSql(LOOKED_AT)}) AS backfill_requests
      ${where(status === null ? [] : [sql`status = ${status}`])} ORDER BY chain_id, kind, backfill_requests.subject LIMIT ${limit + 1}`,
  );
  const histories = found.slice(0, limit);
  if (found.length > limit) return { histories, next: histories.at(-1)?.subject ?? null };
  const [last] = await database.query<HistoryRecord>(
    sql`SELECT ${HISTORY_COLUMNS} FROM (SELECT * ${from} OFFSET ${rawSql(LOOKED_AT - 1)} LIMIT 1) AS backfill_requests`,
  );
  return { histories, next: last?.subject ?? null };
}
