import { type Database, sql } from '@chainstead/db';

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
