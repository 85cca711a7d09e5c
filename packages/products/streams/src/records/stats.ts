import { type Database, sql } from '@chainstead/db';
import type { StreamStatus } from '../stream.ts';

/** docs/api/streams-reference.md#statistics */
export interface DeliveryCounters {
  readonly webhooksDelivered: number;
  readonly webhooksFailed: number;
  readonly logsProcessed: number;
  readonly txsProcessed: number;
  readonly txsInternalProcessed: number;
}

export interface StreamStats extends DeliveryCounters {
  readonly streamId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const COLUMNS = sql`stream_id, webhooks_delivered, webhooks_failed,
  logs_processed, txs_processed, txs_internal_processed,
  created_at, updated_at`;

/** Oldest first, with deleted streams: account totals are the sums. */
export function readAllStats(database: Database): Promise<readonly StreamStats[]> {
  return database.query<StreamStats>(sql`SELECT ${COLUMNS} FROM stream_stats ORDER BY created_at, stream_id`);
}

export async function readStreamStats(database: Database, streamId: string): Promise<StreamStats | null> {
  const [stats = null] = await database.query<StreamStats>(
    sql`SELECT ${COLUMNS} FROM stream_stats WHERE stream_id = ${streamId}`,
  );
  return stats;
}

export interface AttemptCount {
  /** Unix seconds of the minute's start. */
  readonly minute: number;
  readonly delivered: number;
  readonly failed: number;
}

/** A stream of a fast chain has hundreds of thousands a day. */
const ATTEMPTS_MAX = 20_000;

/** Attempts of a stream by minute, oldest first: the newest {@link ATTEMPTS_MAX} after `since`. */
export async function countAttempts(
  database: Database,
  streamId: string,
  since: Date,
): Promise<readonly AttemptCount[]> {
  return database.select<AttemptCount>(
    sql`SELECT floor(extract(epoch FROM created_at) / 60)::float8 * 60 AS minute,
       count(*) FILTER (WHERE success)::int AS delivered, count(*) FILTER (WHERE NOT success)::int AS failed
     FROM (SELECT created_at, success FROM stream_attempts WHERE stream_id = ${streamId}::uuid AND created_at >= ${since}
       ORDER BY created_at DESC, id DESC LIMIT ${ATTEMPTS_MAX}) AS newest
     GROUP BY minute ORDER BY minute`,
  );
}

export interface StreamStatuses {
  readonly counts: Readonly<Partial<Record<StreamStatus, number>>>;
  readonly webhooksPending: number;
  /** Counted per key. They exceed its work per block, and are matched later. */
  readonly blocksDeferred: number;
  readonly failing: readonly {
    readonly id: string;
    readonly tag: string;
    readonly status: StreamStatus;
    readonly message: string;
  }[];
}

export async function readStreamStatuses(database: Database, failingMax: number): Promise<StreamStatuses> {
  const counted = await database.query<{ status: StreamStatus; streams: number }>(
    sql`SELECT status, count(*) AS streams FROM streams WHERE deleted_at IS NULL GROUP BY status ORDER BY status`,
  );
  const [pending] = await database.query<{ webhooks: number }>(
    sql`SELECT count(*) AS webhooks FROM stream_deliveries WHERE status = 'pending'`,
  );
  const [deferred] = await database.query<{ blocks: number }>(
    sql`SELECT count(*) AS blocks FROM deferred_matches`,
  );
  const failing = await database.query<StreamStatuses['failing'][number]>(
    sql`SELECT id, tag, status, status_message AS message FROM streams
      WHERE deleted_at IS NULL AND status IN ('error', 'terminated') ORDER BY updated_at DESC LIMIT ${failingMax}`,
  );
  return {
    counts: Object.fromEntries(counted.map(({ status, streams }) => [status, streams])),
    webhooksPending: pending?.webhooks ?? 0,
    blocksDeferred: deferred?.blocks ?? 0,
    failing,
  };
}
