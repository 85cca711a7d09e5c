/** One ingest process per chain reports, also before it leads: silent nodes are reported too. */
import { randomUUID } from 'node:crypto';
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Database, failureLevel, rawSql, sql } from '@chainstead/db';
import type { UpstreamPool, UpstreamStatus } from '@chainstead/rpc';
import type { SyncMetrics } from '../sync-metrics.ts';

export interface HeadSource {
  /** In this run, epoch milliseconds; null: not yet. */
  seenAt(): number | null;
  look(signal: AbortSignal): Promise<unknown>;
  /** By the nodes' last responses. @param since epoch milliseconds */
  reason(since: number): string;
}

const REPORT_INTERVAL_MS = 2_000;
/** If no other work has read the head for this long, the report does. */
const LOOK_AFTER_MS = 2_500;
/** With report, cache and poll, an unknown head is shown within 10 s. */
export const UNKNOWN_AFTER_MS = 6_000;
const SILENT_AFTER_MS = 8_000;
/** Condition on a row `report`: its process has ended or hangs. A standby does not show the sessions of its primary. */
export const IS_SILENT = sql`(report.reported_at < now() - ${rawSql(SILENT_AFTER_MS)} * interval '1 millisecond'
  OR (report.session IS NOT NULL AND NOT pg_is_in_recovery() AND NOT EXISTS (
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = report.session)))`;
export const IS_REPORTED = sql`EXISTS (SELECT FROM head_reports AS report WHERE chain = chain_id::text AND NOT ${IS_SILENT})`;
export const INDEXED_AT = sql`(SELECT greatest(max(reported_at), sync_chains.updated_at) FROM head_reports WHERE chain = sync_chains.chain_id::text)`;

interface HeadReportOptions {
  readonly chain: string;
  readonly key: string;
  readonly source: HeadSource;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<SyncMetrics, 'headKnown'>;
  /** Sessions of a pooler in transaction mode come and go: only the time of a report counts. */
  readonly isPooled: boolean;
}

/** Until the signal aborts: a chain that `work` has indexed to its end is still reported, without its head. */
export async function reportHeads(
  options: HeadReportOptions,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  let isFinished = false;
  const reporting = keepHeadReports(options, () => isFinished, AbortSignal.any([signal, failed.signal]));
  try {
    await work();
    isFinished = true;
  } catch (error) {
    failed.abort();
    throw error;
  } finally {
    await reporting;
  }
}

async function keepHeadReports(
  options: HeadReportOptions,
  isFinished: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const { chain, key, source, database, clock, logger, metrics } = options;
  const reporter = { id: randomUUID(), isPooled: options.isPooled };
  const startedAt = clock.now();
  let isLooking = false;
  /** Why the last run made no progress; undefined: not read yet or removed. */
  let former: string | null | undefined;
  let isFirst = true;

  async function report(): Promise<void> {
    if (isFirst && former === undefined) {
      const [last] = await database.query<{ reason: string | null }>(
        sql`SELECT stall_reason AS reason FROM sync_chains WHERE chain_id::text = ${chain}`,
      );
      former = last?.reason ?? null;
    }
    const now = clock.now();
    const seenAt = source.seenAt();
    const since = seenAt ?? startedAt;
    const isOver = isFinished();
    const isUnknown = !isOver && now - since > UNKNOWN_AFTER_MS;
    // At the start, neither is known: the report of the last run stays.
    const unknown = isUnknown ? { ms: now - since, reason: source.reason(since) } : null;
    const isReporting =
      (seenAt !== null || isUnknown || isOver) && (await saveHeadReport(database, chain, reporter, unknown));
    if (!isReporting) return metrics.headKnown.remove({ chain: key });
    metrics.headKnown.set({ chain: key }, isUnknown ? 0 : 1);
    if (typeof former === 'string')
      await database.query(
        sql`UPDATE sync_chains SET stall_reason = NULL WHERE chain_id::text = ${chain} AND stall_reason = ${former}`,
      );
    isFirst = false;
    former = undefined;
    if (isOver || isLooking || now - since < LOOK_AFTER_MS) return;
    isLooking = true;
    source
      .look(signal)
      .catch((error: unknown) => logger.debug({ chain: key, error: errorText(error) }, 'Head not read'))
      .finally(() => {
        isLooking = false;
      });
  }

  while (!signal.aborted) {
    try {
      await report();
    } catch (error) {
      logger[failureLevel(error)]({ chain: key, error: errorText(error) }, 'Status could not be written');
    }
    await sleepUnlessAborted(clock, REPORT_INTERVAL_MS, signal);
  }
}

export function headSourceOf(pool: Pick<UpstreamPool, 'getHead' | 'status'>): HeadSource {
  return {
    seenAt() {
      const newest = Math.max(...pool.status().map(({ headAt }) => headAt ?? Number.NEGATIVE_INFINITY));
      return Number.isFinite(newest) ? newest : null;
    },
    look: (signal) => pool.getHead({ signal }),
    reason: (since) => complaintsOf(pool.status(), since),
  };
}

/** Upstreams with their last errors. @param since epoch milliseconds; earlier errors are over */
export function complaintsOf(upstreams: readonly UpstreamStatus[], since: number): string {
  const complaints = upstreams.map(({ name, state, reason, lastError, learnedRate }) => {
    const isPast = lastError === null || lastError.at < since || reason?.includes(lastError.text) === true;
    const causes = [reason ?? [], isPast ? [] : `${lastError.method}: ${lastError.text}`].flat();
    const silence =
      learnedRate === null
        ? 'no response'
        : `no response within its learned pace of ${learnedRate.toFixed(1)} calls/s`;
    return `${name} (${state}): ${causes.length === 0 ? silence : causes.join('; ')}`;
  });
  return complaints.length === 0 ? 'no upstream is configured' : complaints.join('; ');
}

/** False if another process reports on the chain. */
async function saveHeadReport(
  database: Database,
  chain: string,
  reporter: { readonly id: string; readonly isPooled: boolean },
  unknown: { readonly ms: number; readonly reason: string } | null,
): Promise<boolean> {
  const rows = await database.query(
    sql`INSERT INTO head_reports AS report (chain, reporter, session, reported_at, unknown_since, reason)
     VALUES (${chain}, ${reporter.id}, CASE WHEN NOT ${reporter.isPooled}::boolean THEN nullif(current_setting('application_name'), '') END, now(), now() - ${unknown?.ms ?? null}::float8 * interval '1 millisecond', ${unknown?.reason ?? null})
     ON CONFLICT (chain) DO UPDATE SET reporter = excluded.reporter, session = excluded.session, reported_at = now(), reason = excluded.reason,
       -- The last run knew the head until its last report.
       unknown_since = CASE WHEN excluded.unknown_since IS NOT NULL
         THEN least(coalesce(report.unknown_since, report.reported_at), excluded.unknown_since) END
      WHERE report.reporter = excluded.reporter OR ${IS_SILENT}
     RETURNING chain`,
  );
  return rows.length > 0;
}

export async function readReportedChains(database: Pick<Database, 'query'>): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ chain: string }>(
    sql`SELECT chain FROM head_reports AS report WHERE NOT ${IS_SILENT}`,
  );
  return new Set(rows.map(({ chain }) => chain));
}

export interface UnknownHead {
  readonly since: Date;
  readonly reason: string;
  readonly isSilent: boolean;
}

export async function readUnknownHeads(
  database: Pick<Database, 'query'>,
): Promise<ReadonlyMap<string, UnknownHead>> {
  const heads = await database.query<UnknownHead & { chain: string }>(
    sql`SELECT chain, CASE WHEN is_silent THEN coalesce(unknown_since, reported_at) ELSE unknown_since END AS since,
            CASE WHEN is_silent THEN 'no ingest process reports on the chain' ELSE coalesce(reason, 'no response') END AS reason, is_silent
       FROM (SELECT *, ${IS_SILENT} AS is_silent FROM head_reports AS report) AS head
      WHERE is_silent OR unknown_since IS NOT NULL`,
  );
  return new Map(heads.map(({ chain, ...head }) => [chain, head]));
}
