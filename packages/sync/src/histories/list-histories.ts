import type { ChainId } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import {
  HISTORY_COLUMNS,
  type HistoryRecord,
  type HistoryRow,
  type HistoryStatus,
  toRecord,
} from './history-record.ts';
import type { Subject } from './subject.ts';

export interface HistoriesAsked {
  /** Null: of all chains. */
  readonly chainId: ChainId | null;
  /** Null: in whatever state. */
  readonly status: HistoryStatus | null;
  /** The one behind which the page begins; null: at the first. */
  readonly after: Subject | null;
  readonly limit: number;
}

export interface HistoriesPage {
  readonly histories: readonly HistoryRecord[];
  /** Behind which the next page begins; null: there is nothing more. A page may be short, or empty, and others follow. */
  readonly next: Subject | null;
}

/** Looked at for one page, whatever is chosen of them. */
const LOOKED_AT = 20_000;

/** Histories by chain, kind and subject. Looks at a bounded number of them, however few are chosen. */
export async function listHistories(database: Pick<Database, 'query'>, asked: HistoriesAsked): Promise<HistoriesPage> {
  const { chainId, status, after, limit } = asked;
  const behind = [after?.chainId ?? null, after?.kind ?? '', after === null ? null : addressBytes(after.address)];
  const from = `FROM subject_histories WHERE ($1::bigint IS NULL OR chain_id = $1)
    AND ($2::bigint IS NULL OR (chain_id, kind, subject) > ($2, $3::text, $4::bytea)) ORDER BY chain_id, kind, subject`;
  const rows = await database.query<HistoryRow>(
    `SELECT ${HISTORY_COLUMNS} FROM (SELECT * ${from} LIMIT ${LOOKED_AT}) AS subject_histories
      WHERE $5::text IS NULL OR status = $5 ORDER BY chain_id, kind, subject_histories.subject LIMIT $6`,
    [chainId, ...behind, status, limit + 1],
  );
  const histories = rows.slice(0, limit).map(toRecord);
  if (rows.length > limit) return { histories, next: histories.at(-1)?.subject ?? null };
  const [last] = await database.query<HistoryRow>(
    `SELECT ${HISTORY_COLUMNS} FROM (SELECT * ${from} OFFSET ${LOOKED_AT - 1} LIMIT 1) AS subject_histories`,
    [chainId, ...behind],
  );
  return { histories, next: last === undefined ? null : toRecord(last).subject };
}
