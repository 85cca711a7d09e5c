import { type Database, sql } from '@chainstead/db';
import { auditStream } from '../records/audit-stream.ts';
import { REPLAYS_PER_KEY, requireRoomForReplay } from '../records/open-replays.ts';
import type { ReplayAttempt } from '../stream-services.ts';

export interface ReplayOptions {
  readonly database: Database;
  readonly replaysPerKey?: number;
}

/** Resends a failed body under its delivery id, after an attempt in flight; not if deleted. */
export function createReplayAttempt({ database, replaysPerKey = REPLAYS_PER_KEY }: ReplayOptions): ReplayAttempt {
  return ({ streamId, attemptId, by }) =>
    database.transaction(async (transaction) => {
      await requireRoomForReplay(transaction, by.id, replaysPerKey);
      const rows = await transaction.query(
        sql`UPDATE stream_deliveries d SET status = 'pending', resend = a.body, requested_by = ${by.id},
         due_at = CASE WHEN d.status = 'pending' THEN least(d.due_at, now()) ELSE now() END
       FROM stream_attempts a
       WHERE a.id = ${attemptId} AND a.stream_id = ${streamId} AND NOT a.success AND a.body IS NOT NULL AND d.id = a.delivery_id
         AND EXISTS (SELECT FROM streams s WHERE s.id = a.stream_id AND s.deleted_at IS NULL)
       RETURNING d.id`,
      );
      if (rows.length > 0)
        await auditStream(transaction, by, 'stream.replay', streamId, { webhooks: rows.length, all: false });
      return rows.length > 0;
    });
}
