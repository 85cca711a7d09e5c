import { type Database, sql, type Transaction } from '@chainstead/db';
import type { AuditActor } from '@chainstead/http';
import { auditStream } from '../records/stream-addresses.ts';
import { REPLAYS_PER_KEY, requireRoomForReplay } from '../records/stream-bounds.ts';
import type { ReplayAttempt } from '../stream-services.ts';

interface ReplayOptions {
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

interface ReplayManyRequest {
  readonly streamId: string;
  /** Null: the newest attempt of each permanently failed webhook. */
  readonly attemptIds: readonly string[] | null;
  readonly by: AuditActor;
}

export interface Replayed {
  readonly webhooks: number;
  readonly isPart: boolean;
}

/** Like `createReplayAttempt`, up to the limit per key. @throws TooManyReplaysError at the limit */
export type ReplayMany = (request: ReplayManyRequest) => Promise<Replayed>;

export function createReplayMany({ database, replaysPerKey = REPLAYS_PER_KEY }: ReplayOptions): ReplayMany {
  return (request) =>
    database.transaction(async (transaction) => {
      const { streamId, attemptIds, by } = request;
      const room = await requireRoomForReplay(transaction, by.id, replaysPerKey);
      const chosen = await chooseAttempts(transaction, request, room + 1);
      const attempts = chosen.slice(0, room).map(({ attempt }) => attempt);
      const webhooks = attempts.length === 0 ? 0 : await sendAgain(transaction, attempts, by.id);
      if (webhooks > 0)
        await auditStream(transaction, by, 'stream.replay', streamId, { webhooks, all: attemptIds === null });
      return { webhooks, isPart: chosen.length > room };
    });
}

function chooseAttempts(
  transaction: Transaction,
  { streamId, attemptIds }: ReplayManyRequest,
  limit: number,
): Promise<{ readonly attempt: string }[]> {
  const isRequested = attemptIds === null ? sql`d.status = 'failed'` : sql`a.id = ANY (${attemptIds}::uuid[])`;
  return transaction.query(
    sql`SELECT DISTINCT ON (a.delivery_id) a.id AS attempt
     FROM stream_attempts a JOIN stream_deliveries d ON d.id = a.delivery_id JOIN streams s ON s.id = a.stream_id
     WHERE a.stream_id = ${streamId} AND s.deleted_at IS NULL AND NOT a.success AND a.body IS NOT NULL AND ${isRequested}
     ORDER BY a.delivery_id, a.created_at DESC, a.id DESC LIMIT ${limit}`,
  );
}

async function sendAgain(
  transaction: Transaction,
  attempts: readonly string[],
  requestedBy: string,
): Promise<number> {
  const rows = await transaction.query(
    sql`WITH locked AS MATERIALIZED (
       SELECT d.id, a.body FROM stream_attempts a JOIN stream_deliveries d ON d.id = a.delivery_id
       WHERE a.id = ANY (${attempts}::uuid[]) AND NOT a.success ORDER BY d.id FOR UPDATE OF d
     )
     UPDATE stream_deliveries d SET status = 'pending', resend = locked.body, requested_by = ${requestedBy},
       due_at = CASE WHEN d.status = 'pending' THEN least(d.due_at, now()) ELSE now() END
     FROM locked WHERE d.id = locked.id RETURNING d.id`,
  );
  return rows.length;
}
