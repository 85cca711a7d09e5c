import type { Database } from '@chainstead/db';

/** An active stream with webhooks to send. */
export interface DueStream {
  readonly streamId: string;
  readonly webhookUrl: string;
}

/**
 * Streams that have anything waiting, found by one index probe each however much waits (stream_deliveries_pending_by_stream).
 */
export const WAITING_STREAMS = `WITH RECURSIVE waiting(stream_id) AS (
    (SELECT stream_id FROM stream_deliveries WHERE status = 'pending' ORDER BY stream_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.stream_id FROM stream_deliveries d
            WHERE d.status = 'pending' AND d.stream_id > waiting.stream_id ORDER BY d.stream_id LIMIT 1)
    FROM waiting WHERE waiting.stream_id IS NOT NULL
  )`;

/** Active streams with webhooks whose time has come, by Postgres' clock. */
export function readDueStreams(database: Database): Promise<DueStream[]> {
  return database.query<DueStream>(
    `${WAITING_STREAMS}
     SELECT s.id AS "streamId", s.webhook_url AS "webhookUrl"
     FROM waiting JOIN streams s ON s.id = waiting.stream_id
     WHERE s.status = 'active' AND s.deleted_at IS NULL AND EXISTS (
       SELECT FROM stream_deliveries d
       WHERE d.status = 'pending' AND (d.stream_id, d.due_at) BETWEEN (s.id, '-infinity') AND (s.id, now()))`,
  );
}

/** Where a webhook goes, as far as one receiver's slowness can be another's. */
export function hostOf(webhookUrl: string): string {
  return URL.parse(webhookUrl)?.origin ?? webhookUrl;
}
