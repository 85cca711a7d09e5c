import type { ChainId, Logger } from '@chainstead/core';
import { type Database, rowsAfterInPartitions, sql, type Transaction, where } from '@chainstead/db';
import { moveStreams, type StreamMove, SUCCESS_RATE_MAX, SUCCESS_RATE_MIN } from '../records/change-status.ts';
import type { StreamStatus } from '../stream.ts';
import type { DeliveryMetrics } from './delivery-metrics.ts';
import { WAITING_STREAMS } from './host-queues.ts';
import type { Attempt, DeliveryKind } from './outbox.ts';

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

export interface UnhealthyWebhook {
  readonly webhookUrl: string;
  readonly successRate: number;
  readonly errorMessage: string;
}

function nextSuccessRate(rate: number, { success }: { readonly success: boolean }): number {
  return Math.max(0, Math.min(SUCCESS_RATE_MAX, rate + (success ? 1 : -1)));
}

/** In order. @returns URLs with a failure and a rate that is too low */
export async function judgeWebhooks(
  transaction: Transaction,
  attempts: readonly Attempt[],
): Promise<UnhealthyWebhook[]> {
  const byUrl = Map.groupBy(attempts, ({ delivery }) => delivery.webhookUrl);
  const failing = [...byUrl].filter(([, tries]) => tries.some(({ outcome }) => !outcome.success));
  await countSuccesses(transaction, byUrl, new Set(failing.map(([url]) => url)));
  return failing.length === 0 ? [] : countFailures(transaction, new Map(failing));
}

/** A URL that always responds has no row and takes no lock. */
async function countSuccesses(
  transaction: Transaction,
  byUrl: ReadonlyMap<string, readonly Attempt[]>,
  failing: ReadonlySet<string>,
): Promise<void> {
  const entries = [...byUrl].filter(([url]) => !failing.has(url));
  if (entries.length === 0) return;
  await transaction.query(
    sql`UPDATE webhook_health h SET success_rate = least(${SUCCESS_RATE_MAX}, h.success_rate + answered.times), updated_at = now()
     FROM unnest(${entries.map(([url]) => url)}::text[], ${entries.map(([, tries]) => tries.length)}::int[]) AS answered(webhook_url, times)
     WHERE h.webhook_url = answered.webhook_url AND h.success_rate < ${SUCCESS_RATE_MAX}`,
  );
}

async function countFailures(
  transaction: Transaction,
  byUrl: ReadonlyMap<string, readonly Attempt[]>,
): Promise<UnhealthyWebhook[]> {
  const urls = [...byUrl.keys()].toSorted();
  await transaction.query(
    sql`INSERT INTO webhook_health (webhook_url) SELECT * FROM unnest(${urls}::text[]) ON CONFLICT DO NOTHING`,
  );
  const rows = await transaction.query<{ webhookUrl: string; rate: number }>(
    sql`SELECT webhook_url, success_rate AS rate FROM webhook_health
     WHERE webhook_url = ANY (${urls}::text[]) ORDER BY webhook_url FOR UPDATE`,
  );
  const judged = rows.map(({ webhookUrl, rate }) => {
    const tries = byUrl.get(webhookUrl) ?? [];
    const successRate = tries.reduce((at, { outcome }) => nextSuccessRate(at, outcome), rate);
    const errorMessage = tries.findLast(({ outcome }) => !outcome.success)?.outcome.errorMessage ?? '';
    return { webhookUrl, successRate, errorMessage };
  });
  await transaction.query(
    sql`UPDATE webhook_health h SET success_rate = new.rate, updated_at = now()
     FROM unnest(${judged.map(({ webhookUrl }) => webhookUrl)}::text[], ${judged.map(({ successRate }) => successRate)}::int[]) AS new(webhook_url, rate) WHERE h.webhook_url = new.webhook_url`,
  );
  return judged.filter(({ successRate }) => successRate < SUCCESS_RATE_MIN);
}

interface WaitingDelivery {
  readonly id: string;
  readonly chainId: ChainId;
  readonly blockNumber: number;
  readonly kind: DeliveryKind;
  readonly retries: number;
  readonly createdAt: Date;
  readonly dueAt: Date;
}

export type WaitingPosition = readonly [dueAt: string, id: string];

export interface WaitingPage {
  readonly deliveries: readonly WaitingDelivery[];
  readonly next: WaitingPosition | null;
}

export async function listWaitingDeliveries(
  database: Database,
  { streamId, after, limit }: { streamId: string; after: WaitingPosition | null; limit: number },
): Promise<WaitingPage> {
  const isPending = [sql`stream_id = ${streamId}`, sql`status = 'pending'`];
  const start =
    after === null
      ? []
      : rowsAfterInPartitions('ASC', ['due_at', 'id'], [sql`${after[0]}::timestamptz`, sql`${after[1]}::uuid`]);
  const rows = await database.query<WaitingDelivery & { dueText: string }>(
    sql`SELECT id, chain_id, block_number, kind, retries, created_at, due_at,
       due_at::text AS "dueText"
     FROM stream_deliveries ${where([...isPending, ...start])} ORDER BY due_at, id LIMIT ${limit + 1}`,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    deliveries: page.map(({ dueText: _, ...delivery }) => delivery),
    next: last === undefined || rows.length === page.length ? null : [last.dueText, last.id],
  };
}
