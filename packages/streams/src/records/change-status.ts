import { sql, type Transaction } from '@chainstead/db';
import type { Stream, StreamStatus } from '../stream.ts';
import { STREAM_COLUMNS, type StoredStream, streamOf } from './stream-row.ts';
import { raiseStreamsVersion } from './streams-version.ts';
import { trustWebhook } from './webhook-health.ts';

export interface StatusChange {
  readonly status: StreamStatus;
  /** Shown to the owner. */
  readonly statusMessage: string;
}

/**
 * Changes a stream's status from the next block on. `decide` receives the locked stream and returns null to keep its
 * status. Call it first in its transaction, since it raises the configuration version.
 * @returns null if the stream does not exist.
 */
export async function changeStreamStatus(
  transaction: Transaction,
  id: string,
  decide: (current: Stream) => StatusChange | null,
): Promise<Stream | null> {
  await raiseStreamsVersion(transaction);
  const [stored] = await transaction.query<StoredStream>(
    sql`SELECT ${STREAM_COLUMNS} FROM streams WHERE id = ${id} AND deleted_at IS NULL`,
  );
  if (stored === undefined) return null;
  const current = streamOf(stored);
  const change = decide(current);
  if (change === null) return current;
  if (change.status === 'active') await trustWebhook(transaction, current.webhookUrl);
  const [row] = await transaction.query<StoredStream>(
    sql`UPDATE streams SET status = ${change.status}, status_message = ${change.statusMessage}, updated_at = now(), error_since = CASE
       WHEN ${change.status} = 'error' THEN coalesce(error_since, now()) WHEN ${change.status} = 'terminated' THEN error_since END
     WHERE id = ${id} RETURNING ${STREAM_COLUMNS}`,
  );
  return row === undefined ? null : streamOf(row);
}
