import type { Logger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { changeStreamStatus, type StatusChange } from '../records/change-status.ts';
import { SUCCESS_RATE_MIN } from '../records/webhook-health.ts';
import type { Stream } from '../stream.ts';
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

  async function change(
    id: string,
    reason: StatusReason,
    decide: (current: Stream) => StatusChange | null,
  ): Promise<void> {
    let decided: StatusChange | null = null;
    await database.transaction((transaction) =>
      changeStreamStatus(transaction, id, (current) => {
        decided = decide(current);
        return decided;
      }),
    );
    if (decided !== null) announce(id, reason, decided);
  }

  function announce(id: string, reason: StatusReason, { status, statusMessage }: StatusChange): void {
    if (status !== 'error' && status !== 'terminated') return;
    metrics.streamStatusChanges.inc({ status, reason });
    const fields = { stream_id: id, status, reason, status_message: statusMessage };
    logger.warn(fields, status === 'error' ? 'Stream is in error' : 'Stream is terminated');
  }

  const fail = (id: string, reason: StatusReason, statusMessage: string): Promise<void> =>
    change(id, reason, ({ status }) => (status === 'active' ? { status: 'error', statusMessage } : null));

  return {
    async failUnhealthy(webhooks: readonly UnhealthyWebhook[]): Promise<void> {
      for (const { webhookUrl, successRate, errorMessage } of webhooks) {
        const streams = await database.query<{ id: string }>(
          sql`SELECT id FROM streams WHERE webhook_url = ${webhookUrl} AND status = 'active' AND deleted_at IS NULL ORDER BY id`,
        );
        const why = `Success rate of the webhook is ${successRate} %, below ${SUCCESS_RATE_MIN} %: ${errorMessage}`;
        for (const { id } of streams) await fail(id, 'success-rate', why);
      }
    },
    async failOverfull(): Promise<void> {
      const streams = await readOverfull(database, waitingMax);
      const why = `At least ${waitingMax} webhooks wait for their delivery`;
      for (const id of streams) await fail(id, 'queue-size', why);
    },
    async terminateFailed(): Promise<void> {
      const streams = await database.query<{ id: string }>(
        sql`SELECT id FROM streams WHERE status = 'error' AND error_since <= now() - make_interval(hours => ${ERROR_HOURS_MAX}) AND deleted_at IS NULL ORDER BY id`,
      );
      const reported = `Stream was in error for ${ERROR_HOURS_MAX} hours`;
      for (const { id } of streams)
        await change(id, 'time-in-error', ({ status, statusMessage }) =>
          status === 'error' ? { status: 'terminated', statusMessage: `${reported}. ${statusMessage}` } : null,
        );
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
