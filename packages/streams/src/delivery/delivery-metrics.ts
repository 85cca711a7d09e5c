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

/** A scrape must not wait for a database that hangs. Milliseconds. */
const READ_MS = 1_000;

/** What the gauges show, as `label` and `value`. */
const STREAMS_SQL = `SELECT label, count(id) AS value FROM unnest(ARRAY['active', 'paused', 'error', 'terminated']) AS label
  LEFT JOIN streams ON status = label AND deleted_at IS NULL GROUP BY label`;
const PENDING_SQL = `SELECT s.status AS label, count(*) AS value FROM stream_deliveries d JOIN streams s ON s.id = d.stream_id
  WHERE d.status = 'pending' GROUP BY s.status`;

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
  const stale = gauge(
    'chainstead_streams_stale',
    '1 while chainstead_streams and chainstead_webhooks_pending are the last that could be read, as the database does not answer; 0 otherwise',
    [],
  );

  async function readAll(): Promise<void> {
    try {
      const [byStatus, waiting] = await readWithin(database, [STREAMS_SQL, PENDING_SQL]);
      show(streams, byStatus ?? []);
      show(pending, waiting ?? []);
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
}

function show(gauge: Gauge, rows: readonly Counted[]): void {
  gauge.reset();
  for (const { label, value } of rows) gauge.set({ status: label }, value);
}

async function readWithin(database: Database, statements: readonly string[]): Promise<readonly Counted[][]> {
  const late = AbortSignal.timeout(READ_MS);
  const limited = database.until(late, 'cancel');
  const read = Promise.all(statements.map((statement) => limited.query<Counted>(statement)));
  const tooLate = new Promise<never>((_, reject) => {
    late.addEventListener('abort', () => reject(late.reason), { once: true });
  });
  return Promise.race([read, tooLate]);
}
