import type { Logger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { moveStreams, type StreamMove } from '../records/change-status.ts';
import { SUCCESS_RATE_MIN } from '../records/webhook-health.ts';
import type { StreamStatus } from '../stream.ts';
import type { DeliveryMetrics } from './delivery-metrics.ts';
import { WAITING_STREAMS } from './due-streams.ts';
import type { UnhealthyWebhook } from './success-rate.ts';

const WAITING_MAX = 10_000;
const ERROR_HOURS_MAX = 24;

type StatusReason = 'success-rate' | 'queue-size' | 'time-in-error';

/** `error`: blocks are matched and stored, nothing is sent (docs/api/streams.md#status). */
export function createStatusMachine(options: {
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: DeliveryMetrics;
  readonly waitingMax?: number;
}) {
  const { database, logger, metrics, waitingMax = WAITING_MAX } = options;

  async function move(
    moves: readonly StreamMove[],
    reason: StatusReason,
    change: { readonly from: StreamStatus; readonly to: 'error' | 'terminated' },
  ): Promise<void> {
    if (moves.length === 0) return;
    const moved = await database.transaction((transaction) => moveStreams(transaction, moves, change));
    for (const { id, statusMessage } of moves) if (moved.has(id)) announce(id, reason, change.to, statusMessage);
  }

  function announce(id: string, reason: StatusReason, status: 'error' | 'terminated', message: string): void {
    metrics.streamStatusChanges.inc({ status, reason });
    const fields = { stream_id: id, status, reason, status_message: message };
    logger.warn(fields, status === 'error' ? 'Stream is in error' : 'Stream is terminated');
  }

  return {
    async failUnhealthy(webhooks: readonly UnhealthyWebhook[]): Promise<void> {
      if (webhooks.length === 0) return;
      const reasons = new Map(
        webhooks.map(({ webhookUrl, successRate, errorMessage }) => [
          webhookUrl,
          `Success rate of the webhook is ${successRate} %, below ${SUCCESS_RATE_MIN} %: ${errorMessage}`,
        ]),
      );
      const streams = await database.query<{ id: string; webhookUrl: string }>(
        sql`SELECT id, webhook_url FROM streams
         WHERE webhook_url = ANY (${[...reasons.keys()]}::text[]) AND status = 'active' AND deleted_at IS NULL ORDER BY id`,
      );
      const moves = streams.map(({ id, webhookUrl }) => ({ id, statusMessage: reasons.get(webhookUrl) ?? '' }));
      await move(moves, 'success-rate', { from: 'active', to: 'error' });
    },
    async failOverfull(): Promise<void> {
      const statusMessage = `At least ${waitingMax} webhooks wait for their delivery`;
      const moves = (await readOverfull(database, waitingMax)).map((id) => ({ id, statusMessage }));
      await move(moves, 'queue-size', { from: 'active', to: 'error' });
    },
    async terminateFailed(): Promise<void> {
      const streams = await database.query<StreamMove>(
        sql`SELECT id, status_message FROM streams WHERE status = 'error' AND error_since <= now() - make_interval(hours => ${ERROR_HOURS_MAX}) AND deleted_at IS NULL ORDER BY id`,
      );
      const reported = `Stream was in error for ${ERROR_HOURS_MAX} hours`;
      const moves = streams.map(({ id, statusMessage }) => ({
        id,
        statusMessage: `${reported}. ${statusMessage}`,
      }));
      await move(moves, 'time-in-error', { from: 'error', to: 'terminated' });
    },
  };
}

/** Only webhooks queued since the stream was last changed or resumed. */
async function readOverfull(database: Database, waitingMax: number): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    sql`${WAITING_STREAMS}
     SELECT s.id FROM waiting JOIN streams s ON s.id = waiting.stream_id
     CROSS JOIN LATERAL (
       SELECT count(*) AS webhooks FROM (
         SELECT FROM stream_deliveries d
         WHERE d.stream_id = s.id AND d.status = 'pending' AND d.created_at >= s.updated_at LIMIT ${waitingMax}) AS limited
     ) AS counted
     WHERE s.status = 'active' AND s.deleted_at IS NULL AND counted.webhooks >= ${waitingMax}`,
  );
  return rows.map(({ id }) => id);
}

export async function readQueueSizes(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<{ id: string; size: number }>(
    sql`${WAITING_STREAMS}
     SELECT waiting.stream_id AS id, counted.size FROM waiting
     CROSS JOIN LATERAL (
       SELECT count(*) AS size FROM (
         SELECT FROM stream_deliveries d WHERE d.stream_id = waiting.stream_id AND d.status = 'pending' LIMIT ${WAITING_MAX}) AS limited
     ) AS counted
     WHERE waiting.stream_id IS NOT NULL`,
  );
  return new Map(rows.map(({ id, size }) => [id, size]));
}
