import { type Database, rawSql, sql, WORK_QUARANTINED } from '@chainstead/db';
import { type DueTable, dueMoment, partsOf } from './due-table.ts';

export interface DueEntry {
  readonly kind: string;
  readonly table: DueTable;
}

export interface DueCounts {
  readonly dueNow: number;
  readonly claimed: number;
  readonly waiting: number;
  readonly quarantined: number;
  readonly isComplete: boolean;
  readonly oldestDueAt: Date | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface DueSummary {
  readonly kind: string;
  readonly chainId: number;
  /** Null: the time limit came first. */
  readonly counts: DueCounts | null;
}

const ROWS_MAX = 10_000;
const READ_MS = 2_000;

/** Without rows that have neither due time nor claim. Takes 2 s at most. */
export async function summarizeDueWork(
  database: Pick<Database, 'until'>,
  entries: readonly DueEntry[],
  chainIds: readonly number[],
): Promise<DueSummary[]> {
  const late = AbortSignal.timeout(READ_MS);
  const limited = database.until(late, 'cancel');
  const summaries: DueSummary[] = [];
  for (const { kind, table } of entries)
    for (const chainId of chainIds) {
      const counts = late.aborted
        ? null
        : await readCounts(limited, table, chainId).catch((error: unknown) => {
            if (late.aborted) return null;
            throw error;
          });
      summaries.push({ kind, chainId, counts });
    }
  return summaries;
}

async function readCounts(database: Pick<Database, 'query'>, table: DueTable, chainId: number) {
  const moment = dueMoment(table);
  const { name, prefix, isOpen } = partsOf(table, chainId);
  const [counts] = await database.query<DueCounts>(
    sql`SELECT count(*) FILTER (WHERE moment <= now()) AS "dueNow", count(*) FILTER (WHERE moment > now() AND is_claimed) AS claimed,
       count(*) FILTER (WHERE moment > now() AND NOT is_claimed AND code IS DISTINCT FROM ${WORK_QUARANTINED}) AS waiting,
       count(*) FILTER (WHERE moment > now() AND NOT is_claimed AND code = ${WORK_QUARANTINED}) AS quarantined,
       count(*) < ${rawSql(ROWS_MAX)} AS "isComplete", min(moment) FILTER (WHERE moment <= now()) AS "oldestDueAt",
       (array_agg(jsonb_build_object('code', code, 'message', coalesce(message, '')) ORDER BY moment DESC) FILTER (WHERE code IS NOT NULL))[1] AS error
     FROM (SELECT ${moment} AS moment, ${prefix}lease_until IS NOT NULL AS is_claimed, ${prefix}error_code AS code, ${prefix}error_message AS message
           FROM ${name} WHERE ${isOpen} AND ${moment} IS NOT NULL ORDER BY ${moment} LIMIT ${rawSql(ROWS_MAX)}) AS work`,
  );
  return counts ?? null;
}
