import { Counter, errorText, Gauge, Histogram, type Logger, type Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';

/** `retrying`, `gave-up`: a failed attempt, with or without another one to come. */
export type DeliveryResult = 'delivered' | 'retrying' | 'gave-up' | 'repeated' | 'dropped' | 'postponed';
/** Why a stream's status changed by itself. */
export type StatusReason = 'success-rate' | 'queue-size' | 'time-in-error';

export interface DeliveryMetrics {
  count(result: DeliveryResult): void;
  /** From sending to the answer, or to giving up on it. */
  answered(seconds: number): void;
  /** From the match to the first 2xx. */
  delivered(seconds: number): void;
  statusChanged(status: 'error' | 'terminated', reason: StatusReason): void;
}

export interface DeliveryMetricsOptions {
  readonly registry: Registry;
  readonly database: Database;
  readonly logger: Logger;
}

/** Registers what is measured of webhooks and streams. */
export function createDeliveryMetrics(options: DeliveryMetricsOptions): DeliveryMetrics {
  const registers = [options.registry];
  const results = new Counter({
    name: 'chainstead_webhooks_total',
    help: 'Webhooks by what came of them: delivered, retrying (failed, to be sent again), gave-up (failed for good), repeated (had arrived before), dropped (its block left the chain), postponed (no node answered what it was to tell)',
    labelNames: ['result'],
    registers,
  });
  const answers = new Histogram({
    name: 'chainstead_webhook_answer_seconds',
    help: 'Time from sending a webhook to its answer, or to giving up on it',
    buckets: [0.01, 0.05, 0.2, 1, 5, 15],
    registers,
  });
  const delays = new Histogram({
    name: 'chainstead_webhook_delay_seconds',
    help: 'Time from a match to its first successful delivery',
    buckets: [0.1, 0.5, 2, 10, 60, 600, 3_600, 86_400],
    registers,
  });
  const changes = new Counter({
    name: 'chainstead_stream_status_changes_total',
    help: 'Streams that got into error or were terminated, by reason: success-rate, queue-size, time-in-error',
    labelNames: ['status', 'reason'],
    registers,
  });
  watchTables(options);
  return {
    count: (result) => results.inc({ result }),
    answered: (seconds) => answers.observe(seconds),
    delivered: (seconds) => delays.observe(seconds),
    statusChanged: (status, reason) => changes.inc({ status, reason }),
  };
}

/** Gauges of what the database holds, read at the scrape. */
function watchTables({ registry, database, logger }: DeliveryMetricsOptions): void {
  const watch = (labels: { name: string; help: string; label: string }, statement: string): void => {
    new Gauge({
      name: labels.name,
      help: labels.help,
      labelNames: [labels.label],
      registers: [registry],
      async collect() {
        try {
          const rows = await database.query<{ label: string; value: number }>(statement);
          this.reset();
          for (const { label, value } of rows) this.set({ [labels.label]: label }, value);
        } catch (error) {
          // A database that is away must not take the other metrics away.
          logger.warn({ metric: labels.name, reason: errorText(error) }, 'Metric could not be read');
        }
      },
    });
  };
  watch(
    { name: 'chainstead_streams', help: 'Streams by status, read at the scrape', label: 'status' },
    `SELECT label, count(id) AS value FROM unnest(ARRAY['active', 'paused', 'error', 'terminated']) AS label
     LEFT JOIN streams ON status = label AND deleted_at IS NULL GROUP BY label`,
  );
  watch(
    {
      name: 'chainstead_webhooks_pending',
      help: 'Webhooks in the outbox by the status of their stream, read at the scrape',
      label: 'status',
    },
    `SELECT s.status AS label, count(*) AS value FROM stream_deliveries d JOIN streams s ON s.id = d.stream_id
     WHERE d.status = 'pending' GROUP BY s.status`,
  );
}
