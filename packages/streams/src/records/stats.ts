import { type Database, sql } from '@chainstead/db';

/** Delivery statistics of one stream or of all (docs/api/streams-reference.md#statistics). */
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

interface StatsRow {
  readonly stream_id: string;
  readonly webhooks_delivered: number;
  readonly webhooks_failed: number;
  readonly logs_processed: number;
  readonly txs_processed: number;
  readonly txs_internal_processed: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Returns statistics of every stream, deleted ones too, oldest first: account totals are the sums of this list. */
export async function readAllStats(database: Database): Promise<readonly StreamStats[]> {
  const rows = await database.query<StatsRow>(sql`SELECT * FROM stream_stats ORDER BY created_at, stream_id`);
  return rows.map(statsOf);
}

/** Returns statistics of one stream, deleted or not; null if it never existed. */
export async function readStreamStats(database: Database, streamId: string): Promise<StreamStats | null> {
  const [row] = await database.query<StatsRow>(sql`SELECT * FROM stream_stats WHERE stream_id = ${streamId}`);
  return row === undefined ? null : statsOf(row);
}

function statsOf(row: StatsRow): StreamStats {
  return {
    streamId: row.stream_id,
    webhooksDelivered: row.webhooks_delivered,
    webhooksFailed: row.webhooks_failed,
    logsProcessed: row.logs_processed,
    txsProcessed: row.txs_processed,
    txsInternalProcessed: row.txs_internal_processed,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
