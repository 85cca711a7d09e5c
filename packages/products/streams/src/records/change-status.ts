import { sql, type Transaction } from '@chainstead/db';
import type { Stream, StreamStatus } from '../stream.ts';
import { raiseStreamsVersion } from './stream-addresses.ts';
import { STREAM_COLUMNS, type StoredStream, streamOf } from './stream-row.ts';

export interface StatusChange {
  readonly status: StreamStatus;
  readonly statusMessage: string;
}

/** Must be first in its transaction. `decide`: null keeps the status. Null: no stream. */
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

export interface StreamMove {
  readonly id: string;
  readonly statusMessage: string;
}

/**
 * Must be first in its transaction. Blocks wait for one change, however many streams a key has.
 * @returns ids of the moved streams: others left the status meanwhile
 */
// Invariant: FAIR-KEYS
export async function moveStreams(
  transaction: Transaction,
  moves: readonly StreamMove[],
  { from, to }: { readonly from: StreamStatus; readonly to: 'error' | 'terminated' },
): Promise<ReadonlySet<string>> {
  await raiseStreamsVersion(transaction);
  const rows = await transaction.query<{ id: string }>(
    sql`UPDATE streams s SET status = ${to}, status_message = given.message, updated_at = now(), error_since = coalesce(s.error_since, now())
     FROM unnest(${moves.map(({ id }) => id)}::uuid[], ${moves.map(({ statusMessage }) => statusMessage)}::text[]) AS given(id, message)
     WHERE s.id = given.id AND s.status = ${from} AND s.deleted_at IS NULL RETURNING s.id`,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Percent. Below it, streams enter `error` (docs/api/streams.md#status). */
export const SUCCESS_RATE_MIN = 70;
export const SUCCESS_RATE_MAX = 100;

/** After a passed test. A low rate would cause the error status again. */
export async function trustWebhook(transaction: Transaction, webhookUrl: string): Promise<void> {
  await transaction.query(
    sql`UPDATE webhook_health SET success_rate = ${SUCCESS_RATE_MAX}, updated_at = now() WHERE webhook_url = ${webhookUrl} AND success_rate < ${SUCCESS_RATE_MIN}`,
  );
}
