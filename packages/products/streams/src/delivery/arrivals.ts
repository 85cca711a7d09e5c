import { getOrCompute } from '@chainstead/core';
import { type Database, type Sql, sql, type Transaction } from '@chainstead/db';
import { SUCCESS_RATE_MAX } from '../records/change-status.ts';
import type { Attempt, DeliveryVerdict } from './outbox.ts';

/**
 * One statement for 2xx responses. Recorded attempts get no verdict. No two may share a webhook.
 * Locks deliveries by id, then statistics by stream, then success rates.
 */
export async function recordArrivals(
  database: Database,
  attempts: readonly Attempt[],
): Promise<ReadonlyMap<string, DeliveryVerdict>> {
  const rows = await database.query<{ id: string; first: boolean }>(recordStatement(attempts));
  return new Map(rows.map(({ id, first }) => [id, first ? 'delivered' : 'repeated']));
}

/** `arrived` and `counted` fix the lock order. With unknown length, the planner looks up ids. */
function recordStatement(attempts: readonly Attempt[]): Sql {
  return sql`WITH given AS MATERIALIZED (
    SELECT * FROM unnest(${attemptColumns(attempts)})
      AS given(id, delivery_id, webhook_url, tag, retries, http_status, logs, txs, txs_internal, duration_ms, finished_at)
  ), locked AS MATERIALIZED (
    SELECT id, stream_id, chain_id, block_number, kind, delivered_at IS NULL AS first
    FROM stream_deliveries WHERE id = ANY (ARRAY(SELECT delivery_id FROM given)) ORDER BY id FOR UPDATE
  ), fresh AS (
    INSERT INTO stream_attempts (id, delivery_id, stream_id, chain_id, block_number, confirmed, webhook_url, tag, retries,
      success, http_status, records, duration_ms, created_at)
    SELECT given.id, delivery_id, stream_id, chain_id, block_number, kind = 'confirmed', webhook_url, tag, retries,
      true, http_status, logs + txs + txs_internal, duration_ms, finished_at FROM given JOIN locked ON locked.id = delivery_id
    ON CONFLICT (created_at, id) DO NOTHING RETURNING id
  ), arrived AS (
    UPDATE stream_deliveries d SET status = 'delivered', retries = given.retries, body = NULL, resend = NULL,
      delivered_at = coalesce(d.delivered_at, given.finished_at)
    FROM fresh JOIN given ON given.id = fresh.id JOIN locked ON locked.id = given.delivery_id
    WHERE d.id = given.delivery_id
    RETURNING given.id, locked.first, d.stream_id, given.webhook_url, given.logs, given.txs, given.txs_internal
  ), counted AS (
    INSERT INTO stream_stats AS kept (stream_id, webhooks_delivered, logs_processed, txs_processed, txs_internal_processed)
    SELECT stream_id, count(*), sum(logs), sum(txs), sum(txs_internal) FROM arrived WHERE first GROUP BY stream_id ORDER BY stream_id
    ON CONFLICT (stream_id) DO UPDATE SET
      webhooks_delivered = kept.webhooks_delivered + excluded.webhooks_delivered,
      logs_processed = kept.logs_processed + excluded.logs_processed,
      txs_processed = kept.txs_processed + excluded.txs_processed,
      txs_internal_processed = kept.txs_internal_processed + excluded.txs_internal_processed,
      updated_at = now()
    RETURNING 1
  ), rated AS (
    UPDATE webhook_health h SET success_rate = least(${SUCCESS_RATE_MAX}, h.success_rate + answered.times), updated_at = now()
    FROM (SELECT webhook_url, count(*)::int AS times FROM arrived GROUP BY webhook_url) AS answered
    WHERE h.webhook_url = answered.webhook_url AND h.success_rate < ${SUCCESS_RATE_MAX} AND (SELECT count(*) FROM counted) >= 0
  )
  SELECT id, first FROM arrived`;
}

/** `plain` needs no quotes: the pg driver's scan for them costs more than the rest. */
function attemptColumns(attempts: readonly Attempt[]): Sql {
  const plain = (read: (attempt: Attempt) => string | number | null): string =>
    `{${attempts.map((attempt) => read(attempt) ?? 'NULL').join(',')}}`;
  return sql`${plain(({ id }) => id)}::uuid[], ${plain(({ delivery }) => delivery.id)}::uuid[],
        ${attempts.map(({ delivery }) => delivery.webhookUrl)}::text[], ${attempts.map(({ delivery }) => delivery.tag)}::text[],
        ${plain(({ delivery }) => delivery.retries)}::int[], ${plain(({ outcome }) => outcome.httpStatus)}::int[],
        ${plain(({ delivery }) => delivery.match?.logs ?? 0)}::int[], ${plain(({ delivery }) => delivery.match?.txs ?? 0)}::int[],
        ${plain(({ delivery }) => delivery.match?.txsInternal ?? 0)}::int[], ${plain(({ outcome }) => outcome.durationMs)}::int[],
        ${plain(({ finishedAt }) => finishedAt.toISOString())}::timestamptz[]`;
}

type Sums = Record<'delivered' | 'failed' | 'logs' | 'txs' | 'txsInternal', number>;

/** Contents count once, failed attempts each (docs/api/streams-reference.md#statistics). */
export async function addStatistics(
  transaction: Transaction,
  attempts: readonly Attempt[],
  firstDelivered: ReadonlySet<string>,
): Promise<void> {
  const byStream = new Map<string, Sums>();
  for (const attempt of attempts) {
    const { streamId, match } = attempt.delivery;
    const sums = getOrCompute(byStream, streamId, () => ({
      delivered: 0,
      failed: 0,
      logs: 0,
      txs: 0,
      txsInternal: 0,
    }));
    if (!attempt.outcome.success) sums.failed += 1;
    if (!firstDelivered.has(attempt.id)) continue;
    sums.delivered += 1;
    sums.logs += match?.logs ?? 0;
    sums.txs += match?.txs ?? 0;
    sums.txsInternal += match?.txsInternal ?? 0;
  }
  const entries = [...byStream].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const column = (read: (sums: Sums) => number): number[] => entries.map(([, sums]) => read(sums));
  await transaction.query(
    sql`INSERT INTO stream_stats AS kept (stream_id, webhooks_delivered, webhooks_failed, logs_processed, txs_processed,
       txs_internal_processed)
     SELECT * FROM unnest(${entries.map(([streamId]) => streamId)}::uuid[], ${column(({ delivered }) => delivered)}::bigint[], ${column(({ failed }) => failed)}::bigint[], ${column(({ logs }) => logs)}::bigint[], ${column(({ txs }) => txs)}::bigint[], ${column(({ txsInternal }) => txsInternal)}::bigint[])
     ON CONFLICT (stream_id) DO UPDATE SET
       webhooks_delivered = kept.webhooks_delivered + excluded.webhooks_delivered,
       webhooks_failed = kept.webhooks_failed + excluded.webhooks_failed,
       logs_processed = kept.logs_processed + excluded.logs_processed,
       txs_processed = kept.txs_processed + excluded.txs_processed,
       txs_internal_processed = kept.txs_internal_processed + excluded.txs_internal_processed,
       updated_at = now()`,
  );
}
