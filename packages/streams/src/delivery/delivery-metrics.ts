import { Counter, errorText, Gauge, Histogram, type Logger, type Registry } from '@chainstead/core';
import { type Database, readWithin } from '@chainstead/db';

/** `retrying`, `gave-up`: a failed attempt, with or without another one to come. */
const RESULTS = ['delivered', 'retrying', 'gave-up', 'repeated', 'dropped', 'postponed'] as const;
export type DeliveryResult = (typeof RESULTS)[number];
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
  // From 0 on, so that the first of each is seen as one.
  for (const result of RESULTS) results.inc({ result }, 0);
  watchTables(options);
  return {
    count: (result) => results.inc({ result }),
    answered: (seconds) => answers.observe(seconds),
    delivered: (seconds) => delays.observe(seconds),
    statusChanged: (status, reason) => changes.inc({ status, reason }),
  };
}

/** A scrape must not wait for a database that hangs. Milliseconds. */
const READ_MS = 1_000;

/** What the gauges show, as `label` and `value`. */
const STATUSES = "unnest(ARRAY['active', 'paused', 'error', 'terminated']) AS label";
const STREAMS_SQL = `SELECT label, count(id) AS value FROM ${STATUSES} LEFT JOIN streams ON status = label AND deleted_at IS NULL GROUP BY label`;
/** What is sent again on demand has arrived before. */
const PENDING_SQL = `SELECT label, count(waiting.id) AS value,
    coalesce(extract(epoch FROM now() - min(waiting.created_at) FILTER (WHERE waiting.delivered_at IS NULL)), 0)::float8 AS oldest
  FROM ${STATUSES} LEFT JOIN (
    SELECT d.id, d.created_at, d.delivered_at, s.status FROM stream_deliveries AS d JOIN streams AS s ON s.id = d.stream_id
    WHERE d.status = 'pending') AS waiting ON waiting.status = label GROUP BY label`;

/** Gauges of what the database holds, read at the scrape. */
function watchTables({ registry, database, logger }: DeliveryMetricsOptions): void {
  let reading: Promise<void> | null = null;
  /** Once for all gauges of a scrape. */
  const refresh = (): Promise<void> => {
    reading ??= readAll().finally(() => {
      reading = null;
    });
    return reading;
  };
  const gauge = (name: string, help: string, labelNames: readonly string[]): Gauge =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry], collect: refresh });
  const streams = gauge('chainstead_streams', 'Streams by status, read at the scrape', ['status']);
  const pending = gauge(
    'chainstead_webhooks_pending',
    'Webhooks in the outbox by the status of their stream, read at the scrape; see chainstead_streams_stale',
    ['status'],
  );
  const oldest = gauge(
    'chainstead_webhook_oldest_pending_seconds',
    'Age of the oldest webhook that has never arrived, by the status of its stream, read at the scrape; 0 without any',
    ['status'],
  );
  const stale = gauge(
    'chainstead_streams_stale',
    '1 while chainstead_streams, chainstead_webhooks_pending and chainstead_webhook_oldest_pending_seconds are the last that could be read, as the database does not answer; 0 otherwise',
    [],
  );

  async function readAll(): Promise<void> {
    try {
      const [byStatus = [], waiting = []] = await readWithin<Counted>(database, READ_MS, [STREAMS_SQL, PENDING_SQL]);
      show(streams, byStatus);
      show(pending, waiting);
      for (const { label, oldest: seconds = 0 } of waiting) oldest.set({ status: label }, seconds);
      stale.set(0);
    } catch (error) {
      // A database that is away must not take the other metrics away; what was read last stays, and its connections tell of it.
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

function show(gauge: Gauge, rows: readonly Counted[]): void {
  gauge.reset();
  for (const { label, value } of rows) gauge.set({ status: label }, value);
}
