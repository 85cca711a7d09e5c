import type { ChainId } from '@chainstead/core';
import { type Database, rawSql, sql, where } from '@chainstead/db';
import { type Subject, subjectKey } from '../coverage/subject.ts';
import { HISTORY_COLUMNS, type HistoryRecord, type HistoryStatus } from './history-record.ts';

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
