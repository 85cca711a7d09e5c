/**
 * Whether the head of a chain is known now. One ingest process per chain reports it every few seconds, from its start
 * and before it leads, so a node that never responded is reported too.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Database, failureLevel, rawSql, sql } from '@chainstead/db';
import type { UpstreamPool, UpstreamStatus } from '@chainstead/rpc';
import type { SyncMetrics } from '../sync-metrics.ts';

/** The nodes of a chain. */
export interface HeadSource {
  /** When a node last returned the head in this run, epoch milliseconds; null: not yet. */
  seenAt(): number | null;
  /** Reads the head, within the time limits of the nodes. */
  look(signal: AbortSignal): Promise<unknown>;
  /** Why no node returned the head, by its last responses. @param since epoch milliseconds */
  reason(since: number): string;
}

const REPORT_INTERVAL_MS = 2_000;
/** The head is read for the report if no other work has read it for this long. */
const LOOK_AFTER_MS = 2_500;
/** The head is unknown if no node returned it for this long. With report, cache and poll, it is shown within 10 s. */
export const UNKNOWN_AFTER_MS = 6_000;
/** After this time without a report, no process works on the chain, and another one may report. */
export const SILENT_AFTER_MS = 8_000;
/** SQL: an ingest process works on the EVM chain `chain_id` now. */
export const IS_REPORTED = sql`EXISTS (SELECT FROM head_reports WHERE chain = chain_id::text
  AND reported_at >= now() - ${rawSql(SILENT_AFTER_MS)} * interval '1 millisecond')`;
/** SQL: when one last did, of a row of `sync_chains`. */
export const INDEXED_AT = sql`(SELECT greatest(max(reported_at), sync_chains.updated_at) FROM head_reports WHERE chain = sync_chains.chain_id::text)`;

interface HeadReportOptions {
  /** As in `head_reports`. */
  readonly chain: string;
  /** Label of the metric. */
  readonly key: string;
  readonly source: HeadSource;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<SyncMetrics, 'headKnown'>;
}

/** Reports until the signal aborts. Never rejects. */
export async function keepHeadReports(options: HeadReportOptions, signal: AbortSignal): Promise<void> {
  const { chain, key, source, database, clock, logger, metrics } = options;
  const reporter = randomUUID();
  const startedAt = clock.now();
  let isLooking = false;
  /** Why the last run made no progress, read at the start; undefined: not read yet or removed. */
  let former: string | null | undefined;
  let isFirst = true;

  async function report(): Promise<void> {
    if (isFirst && former === undefined) former = await readReason(database, chain);
    const now = clock.now();
    const seenAt = source.seenAt();
    const since = seenAt ?? startedAt;
    const isUnknown = now - since > UNKNOWN_AFTER_MS;
    // At the start, neither is known yet: the report of the last run stays.
    const isReporting =
      (seenAt !== null || isUnknown) &&
      (await saveHeadReport(database, {
        chain,
        reporter,
        unknown: isUnknown ? { ms: now - since, reason: source.reason(since) } : null,
      }));
    if (!isReporting) return metrics.headKnown.remove({ chain: key });
    metrics.headKnown.set({ chain: key }, isUnknown ? 0 : 1);
    if (typeof former === 'string') await clearReason(database, chain, former);
    isFirst = false;
    former = undefined;
    if (isLooking || now - since < LOOK_AFTER_MS) return;
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

/** The nodes of an EVM chain. */
export function headSourceOf(pool: Pick<UpstreamPool, 'getHead' | 'status'>): HeadSource {
  return {
    seenAt: () => pool.status().reduce<number | null>((newest, { headAt }) => later(newest, headAt), null),
    look: (signal) => pool.getHead({ signal }),
    reason: (since) => complaintsOf(pool.status(), since),
  };
}

function later(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b > a) ? b : a;
}

/** Returns the state of each upstream with its last error. @param since errors before have passed, epoch milliseconds */
export function complaintsOf(upstreams: readonly UpstreamStatus[], since: number): string {
  const complaints = upstreams.map(({ name, state, reason, lastError, learnedRate }) => {
    const isPast = lastError === null || lastError.at < since || reason?.includes(lastError.text) === true;
    const causes = [
      ...(reason === null ? [] : [reason]),
      ...(isPast ? [] : [`${lastError.method}: ${lastError.text}`]),
    ];
    const silence =
      learnedRate === null ? 'no response' : `no response within its learned pace of ${learnedRate.toFixed(1)} calls/s`;
    return `${name} (${state}): ${causes.length === 0 ? silence : causes.join('; ')}`;
  });
  return complaints.length === 0 ? 'no upstream is configured' : complaints.join('; ');
}

interface UnknownFor {
  /** Milliseconds since a node last returned the head. */
  readonly ms: number;
  readonly reason: string;
}

/** @returns false if another process reports on the chain */
async function saveHeadReport(
  database: Database,
  {
    chain,
    reporter,
    unknown,
  }: { readonly chain: string; readonly reporter: string; readonly unknown: UnknownFor | null },
): Promise<boolean> {
  const rows = await database.query(
    sql`INSERT INTO head_reports AS former (chain, reporter, reported_at, unknown_since, reason)
     VALUES (${chain}, ${reporter}, now(), now() - ${unknown?.ms ?? null}::float8 * interval '1 millisecond', ${unknown?.reason ?? null})
     ON CONFLICT (chain) DO UPDATE SET reporter = excluded.reporter, reported_at = now(), reason = excluded.reason,
       -- The last run knew the head until its last report.
       unknown_since = CASE WHEN excluded.unknown_since IS NOT NULL
         THEN least(coalesce(former.unknown_since, former.reported_at), excluded.unknown_since) END
      WHERE former.reporter = excluded.reporter OR former.reported_at < now() - ${SILENT_AFTER_MS}::float8 * interval '1 millisecond'
     RETURNING chain`,
  );
  return rows.length > 0;
}

async function readReason(database: Database, chain: string): Promise<string | null> {
  const [row] = await database.query<{ reason: string | null }>(
    sql`SELECT stall_reason AS reason FROM sync_chains WHERE chain_id::text = ${chain}`,
  );
  return row?.reason ?? null;
}

/** Removes a reason of an earlier run, unless another one replaced it. */
async function clearReason(database: Database, chain: string, reason: string): Promise<void> {
  await database.query(
    sql`UPDATE sync_chains SET stall_reason = NULL WHERE chain_id::text = ${chain} AND stall_reason = ${reason}`,
  );
}

/** Returns the chains that an ingest process works on now, as in `head_reports`. */
export async function readReportedChains(database: Pick<Database, 'query'>): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ chain: string }>(
    sql`SELECT chain FROM head_reports WHERE reported_at >= now() - ${SILENT_AFTER_MS}::float8 * interval '1 millisecond'`,
  );
  return new Set(rows.map(({ chain }) => chain));
}

/** A head that isn't known now. */
export interface UnknownHead {
  readonly since: Date;
  /** A sentence without a period. */
  readonly reason: string;
  /** Whether no process works on the chain, so that stored states of its nodes are old. */
  readonly isSilent: boolean;
}

/** Returns the chains whose head isn't known now, by chain as in `head_reports`. */
export async function readUnknownHeads(database: Pick<Database, 'query'>): Promise<ReadonlyMap<string, UnknownHead>> {
  const rows = await database.query<{ chain: string; since: Date; reason: string | null; isSilent: boolean }>(
    sql`SELECT chain, CASE WHEN is_silent THEN coalesce(unknown_since, reported_at) ELSE unknown_since END AS since,
            reason, is_silent AS "isSilent"
       FROM (SELECT *, reported_at < now() - ${SILENT_AFTER_MS}::float8 * interval '1 millisecond' AS is_silent FROM head_reports) AS report
      WHERE is_silent OR unknown_since IS NOT NULL`,
  );
  return new Map(
    rows.map(({ chain, since, reason, isSilent }) => [
      chain,
      { since, reason: isSilent ? 'no ingest process reports on the chain' : (reason ?? 'no response'), isSilent },
    ]),
  );
}
