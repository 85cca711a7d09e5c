import { type Database, sql } from '@chainstead/db';
import { SUCCESS_RATE_MAX } from '../records/webhook-health.ts';

export interface DueStream {
  readonly streamId: string;
  readonly webhookUrl: string;
  /** Id of the key that created the stream; null for old streams. */
  readonly createdBy: string | null;
  /** It failed more often than it succeeded since. */
  readonly isFailing: boolean;
}

/** One index probe per stream, however many webhooks are pending. */
export const WAITING_STREAMS = sql`WITH RECURSIVE waiting(stream_id) AS (
    (SELECT stream_id FROM stream_deliveries WHERE status = 'pending' ORDER BY stream_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.stream_id FROM stream_deliveries d
            WHERE d.status = 'pending' AND d.stream_id > waiting.stream_id ORDER BY d.stream_id LIMIT 1)
    FROM waiting WHERE waiting.stream_id IS NOT NULL
  )`;

export function readDueStreams(database: Database): Promise<DueStream[]> {
  return database.query<DueStream>(
    sql`${WAITING_STREAMS}
     SELECT s.id AS stream_id, s.webhook_url, s.created_by,
       coalesce(h.success_rate < ${SUCCESS_RATE_MAX}, false) AS is_failing
     FROM waiting JOIN streams s ON s.id = waiting.stream_id
     LEFT JOIN webhook_health h ON h.webhook_url = s.webhook_url
     WHERE s.status = 'active' AND s.deleted_at IS NULL AND EXISTS (
       SELECT FROM stream_deliveries d
       WHERE d.status = 'pending' AND (d.stream_id, d.due_at) BETWEEN (s.id, '-infinity') AND (s.id, now()))`,
  );
}

export function hostOf(webhookUrl: string): string {
  return URL.parse(webhookUrl)?.origin ?? webhookUrl;
}
