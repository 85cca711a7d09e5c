import { Counter, errorText, Gauge, Histogram, type Logger, type Registry } from '@chainstead/core';
import { type Database, readWithin } from '@chainstead/db';

/** `retrying`, `gave-up`: a failed attempt, with or without a further retry. */
const RESULTS = ['delivered', 'retrying', 'gave-up', 'repeated', 'dropped', 'postponed'] as const;
export type DeliveryResult = (typeof RESULTS)[number];
export type StatusReason = 'success-rate' | 'queue-size' | 'time-in-error';

export interface DeliveryMetrics {
  count(result: DeliveryResult): void;
  answered(seconds: number): void;
  delivered(seconds: number): void;
  statusChanged(status: 'error' | 'terminated', reason: StatusReason): void;
}

export interface DeliveryMetricsOptions {
  readonly registry: Registry;
  readonly database: Database;
  readonly logger: Logger;
}

export function createDeliveryMetrics(options: DeliveryMetricsOptions): DeliveryMetrics {
  const registers = [options.registry];
  const results = new Counter({
    name: 'chainstead_webhooks_total',
    help: 'Number of webhooks by result: delivered, retrying (failed, will be retried), gave-up (failed permanently), repeated (was already delivered), dropped (its block was reorged out), postponed (no node returned the data it needs)',
    labelNames: ['result'],
    registers,
  });
  const answers = new Histogram({
    name: 'chainstead_webhook_answer_seconds',
    help: 'Time from sending a webhook to its response or timeout',
    buckets: [0.01, 0.05, 0.2, 1, 5, 15],
    registers,
  });
  const delays = new Histogram({
    name: 'chainstead_webhook_delay_seconds',
    help: 'Time from a match to the first successful delivery of its webhook',
    buckets: [0.1, 0.5, 2, 10, 60, 600, 3_600, 86_400],
    registers,
  });
  const changes = new Counter({
    name: 'chainstead_stream_status_changes_total',
    help: 'Number of streams that changed to status error or terminated, by reason: success-rate, queue-size, time-in-error',
    labelNames: ['status', 'reason'],
    registers,
  });
  for (const result of RESULTS) results.inc({ result }, 0);
  watchTables(options);
  return {
    count: (result) => results.inc({ result }),
    answered: (seconds) => answers.observe(seconds),
    delivered: (seconds) => delays.observe(seconds),
    statusChanged: (status, reason) => changes.inc({ status, reason }),
  };
}

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

function watchTables({ registry, database, logger }: DeliveryMetricsOptions): void {
  let reading: Promise<void> | null = null;
  const refresh = (): Promise<void> => {
    reading ??= readAll().finally(() => {
      reading = null;
    });
    return reading;
  };
  const gauge = (name: string, help: string, labelNames: readonly string[]): Gauge =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry], collect: refresh });
  const streams = gauge('chainstead_streams', 'Number of streams by status, read at each scrape', ['status']);
  const pending = gauge(
    'chainstead_webhooks_pending',
    'Number of webhooks in the outbox by stream status, read at each scrape. See chainstead_streams_stale',
    ['status'],
  );
  const oldest = gauge(
    'chainstead_webhook_oldest_pending_seconds',
    'Age in seconds of the oldest webhook never delivered, by stream status, read at each scrape. 0 if there is none',
    ['status'],
  );
  const stale = gauge(
    'chainstead_streams_stale',
    '1 if chainstead_streams, chainstead_webhooks_pending and chainstead_webhook_oldest_pending_seconds are outdated because the database does not respond, otherwise 0',
    [],
  );

  async function readAll(): Promise<void> {
    try {
      const [byStatus = [], waiting = []] = await readWithin<Counted>(database, READ_MS, [STREAMS_SQL, PENDING_SQL]);
      for (const [gauge, rows] of [
        [streams, byStatus],
        [pending, waiting],
      ] as const) {
        gauge.reset();
        for (const { label, value } of rows) gauge.set({ status: label }, value);
      }
      for (const { label, oldest: seconds = 0 } of waiting) oldest.set({ status: label }, seconds);
      stale.set(0);
    } catch (error) {
      stale.set(1);
      logger.debug({ reason: errorText(error) }, 'Streams could not be counted');
    }
  }
}

interface Counted {
  readonly label: string;
  readonly value: number;
  readonly oldest?: number;
}
