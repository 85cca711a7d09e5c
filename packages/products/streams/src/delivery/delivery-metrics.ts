import {
  counter,
  defineMetrics,
  errorText,
  gauge,
  histogram,
  type Logger,
  type Registry,
  readTogether,
} from '@chainstead/core';
import { type Database, readWithin } from '@chainstead/db';

/** `retrying`, `gave-up`: a failed attempt, with or without a further retry. */
const RESULTS = ['delivered', 'retrying', 'gave-up', 'repeated', 'dropped', 'postponed'] as const;
export type DeliveryResult = (typeof RESULTS)[number];

export type DeliveryMetrics = ReturnType<typeof createDeliveryMetrics>;

export const createDeliveryMetrics = defineMetrics('chainstead', {
  webhooks: counter(
    'Number of webhooks by result: delivered, retrying (failed, will be retried), gave-up (failed permanently), repeated (was already delivered), dropped (its block was reorged out), postponed (no node returned the data it needs)',
    ['result'],
  ),
  webhookAnswerSeconds: histogram(
    'Time from sending a webhook to its response or timeout',
    [0.01, 0.05, 0.2, 1, 5, 15],
  ),
  webhookDelaySeconds: histogram(
    'Time from a match to the first successful delivery of its webhook',
    [0.1, 0.5, 2, 10, 60, 600, 3_600, 86_400],
  ),
  streamStatusChanges: counter(
    'Number of streams that changed to status error or terminated, by reason: success-rate, queue-size, time-in-error',
    ['status', 'reason'],
  ),
  streams: gauge('Number of streams by status, read at each scrape', ['status']),
  webhooksPending: gauge(
    'Number of webhooks in the outbox by stream status, read at each scrape. See chainstead_streams_stale',
    ['status'],
  ),
  webhookOldestPendingSeconds: gauge(
    'Age in seconds of the oldest webhook never delivered, by stream status, read at each scrape. 0 if there is none',
    ['status'],
  ),
  streamsStale: gauge(
    '1 if chainstead_streams, chainstead_webhooks_pending and chainstead_webhook_oldest_pending_seconds are outdated because the database does not respond, otherwise 0',
  ),
});

/** A scrape must not wait for a hanging database. */
const READ_MS = 1_000;

const STATUSES = "unnest(ARRAY['active', 'paused', 'error', 'terminated']) AS label";
const STREAMS_SQL = `SELECT label, count(id) AS value FROM ${STATUSES} LEFT JOIN streams ON status = label AND deleted_at IS NULL GROUP BY label`;
/** A replayed webhook was already delivered. */
const PENDING_SQL = `SELECT label, count(waiting.id) AS value,
    coalesce(extract(epoch FROM now() - min(waiting.created_at) FILTER (WHERE waiting.delivered_at IS NULL)), 0)::float8 AS oldest
  FROM ${STATUSES} LEFT JOIN (
    SELECT d.id, d.created_at, d.delivered_at, s.status FROM stream_deliveries AS d JOIN streams AS s ON s.id = d.stream_id
    WHERE d.status = 'pending') AS waiting ON waiting.status = label GROUP BY label`;

export function measureDeliveries(options: {
  readonly registry: Registry;
  readonly database: Database;
  readonly logger: Logger;
}): DeliveryMetrics {
  const metrics = createDeliveryMetrics(options.registry);
  const { streams, webhooksPending, webhookOldestPendingSeconds, streamsStale } = metrics;
  for (const result of RESULTS) metrics.webhooks.inc({ result }, 0);
  readTogether([streams, webhooksPending, webhookOldestPendingSeconds, streamsStale], async () => {
    try {
      const statements = [STREAMS_SQL, PENDING_SQL];
      const [byStatus = [], waiting = []] = await readWithin<Counted>(options.database, READ_MS, statements);
      for (const metric of [streams, webhooksPending]) metric.reset();
      for (const { label, value } of byStatus) streams.set({ status: label }, value);
      for (const { label, value, oldest = 0 } of waiting) {
        webhooksPending.set({ status: label }, value);
        webhookOldestPendingSeconds.set({ status: label }, oldest);
      }
      streamsStale.set(0);
    } catch (error) {
      streamsStale.set(1);
      options.logger.debug({ reason: errorText(error) }, 'Streams could not be counted');
    }
  });
  return metrics;
}

interface Counted {
  readonly label: string;
  readonly value: number;
  readonly oldest?: number;
}
