import type { Clock, Logger } from '@chainstead/core';
import { type Database, failureLevel, sql, type Transaction } from '@chainstead/db';
import { addStatistics, recordArrivals } from './arrivals.ts';
import { type Attempt, type AttemptOutcome, type DeliveryVerdict, recordsOf } from './outbox.ts';
import { judgeWebhooks, type UnhealthyWebhook } from './status.ts';

interface AttemptRecorderOptions {
  readonly database: Database;
  readonly retryDelaysMs: readonly number[];
  readonly clock: Clock;
  readonly logger: Logger;
  onRecorded(attempts: readonly Attempt[], recorded: Recorded): Promise<void>;
}

export type AttemptRecorder = ReturnType<typeof createAttemptRecorder>;

interface Waiting {
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
  resolve(verdict: DeliveryVerdict): void;
  reject(error: unknown): void;
}

const BATCH_MAX = 500;
const BATCH_LENGTH_MAX = 16_777_216;
/** After a batch of this size, the next one gathers: each costs a query plan and a WAL flush. */
const GATHERING_MIN = 16;
const GATHER_MS = 20;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 5_000;

export function createAttemptRecorder(options: AttemptRecorderOptions) {
  let waiting: Waiting[] = [];
  let working = false;

  async function work(): Promise<void> {
    working = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize(waiting));
      waiting = waiting.slice(batch.length);
      await commit(options, batch);
      if (batch.length >= GATHERING_MIN && batch.length < BATCH_MAX) await options.clock.sleep(GATHER_MS);
    }
    working = false;
  }

  return {
    /** Resolves after the commit. Rejects on abort, or if Postgres refuses the attempt. */
    record(attempt: Attempt, signal: AbortSignal): Promise<DeliveryVerdict> {
      const { promise, resolve, reject } = Promise.withResolvers<DeliveryVerdict>();
      waiting.push({ attempt, signal, resolve, reject });
      if (!working) void work();
      return promise;
    },
  };
}

function batchSize(waiting: readonly Waiting[]): number {
  let length = 0;
  for (const [index, { attempt }] of waiting.entries()) {
    length += attempt.body?.length ?? 0;
    if (index > 0 && (index === BATCH_MAX || length > BATCH_LENGTH_MAX)) return index;
  }
  return waiting.length;
}

/** Never throws. Retries while Postgres is unavailable: every attempt must be recorded. */
async function commit(options: AttemptRecorderOptions, batch: readonly Waiting[]): Promise<void> {
  const { database, retryDelaysMs, clock, logger } = options;
  let open = batch;
  for (let delayMs = RETRY_MS_MIN; ; delayMs = Math.min(RETRY_MS_MAX, delayMs * 2)) {
    const attempts = open.map(({ attempt }) => attempt);
    try {
      const recorded = await recordAttempts(database, attempts, retryDelaysMs);
      await options.onRecorded(attempts, recorded);
      for (const { attempt, resolve } of open) resolve(recorded.verdicts.get(attempt.id) ?? 'repeated');
      return;
    } catch (error) {
      const refused = isRefused(error);
      if (refused && open.length > 1) {
        // One attempt that can't be stored must not block the others.
        for (const single of open) await commit(options, [single]);
        return;
      }
      open = open.filter(({ signal, reject }) => {
        if (!refused && !signal.aborted) return true;
        reject(refused ? error : signal.reason);
        return false;
      });
      if (open.length === 0) return;
      logger[failureLevel(error)](
        { attempts: open.length, err: error },
        'Attempts could not be recorded, will be tried again',
      );
      await clock.sleep(delayMs);
    }
  }
}

/** SQLSTATE classes 22 and 23: the same data fails again. */
function isRefused(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && /^2[23]...$/.test(error.code)
  );
}

interface Recorded {
  readonly verdicts: ReadonlyMap<string, DeliveryVerdict>;
  readonly unhealthy: readonly UnhealthyWebhook[];
}

/** Repeatable. Locks deliveries by id, then statistics by stream, then success rates by URL. */
export async function recordAttempts(
  database: Database,
  attempts: readonly Attempt[],
  retryDelaysMs: readonly number[],
): Promise<Recorded> {
  const { arrivals, others } = sortOut(attempts);
  const [arrived, recorded] = [
    arrivals.length === 0 ? new Map<string, DeliveryVerdict>() : await recordArrivals(database, arrivals),
    others.length === 0 ? NOTHING_RECORDED : await recordInTurn(database, others, retryDelaysMs),
  ];
  return { verdicts: new Map([...arrived, ...recorded.verdicts]), unhealthy: recorded.unhealthy };
}

const NOTHING_RECORDED: Recorded = { verdicts: new Map(), unhealthy: [] };

/** Order matters only for URLs with a failure. Resent texts are not arrivals. */
function sortOut(attempts: readonly Attempt[]): { readonly arrivals: Attempt[]; readonly others: Attempt[] } {
  const failing = new Set<string>();
  const once = new Set<string>();
  const often = new Set<string>();
  for (const { delivery, outcome } of attempts) {
    if (!outcome.success) failing.add(delivery.webhookUrl);
    if (once.has(delivery.id)) often.add(delivery.id);
    once.add(delivery.id);
  }
  const isArrival = ({ delivery }: Attempt): boolean =>
    delivery.resend === null && !often.has(delivery.id) && !failing.has(delivery.webhookUrl);
  return { arrivals: attempts.filter(isArrival), others: attempts.filter((attempt) => !isArrival(attempt)) };
}

function recordInTurn(
  database: Database,
  attempts: readonly Attempt[],
  retryDelaysMs: readonly number[],
): Promise<Recorded> {
  return database.transaction(async (transaction) => {
    const rows = await lockDeliveries(transaction, attempts);
    const recorded = await insertAttempts(transaction, attempts);
    const fresh = attempts.filter(({ id }) => recorded.has(id));
    const verdicts = new Map<string, DeliveryVerdict>();
    const firstDelivered = new Set<string>();
    for (const attempt of fresh) {
      const row = rows.get(attempt.delivery.id);
      if (attempt.outcome.success && row?.deliveredAt === null) firstDelivered.add(attempt.id);
      verdicts.set(attempt.id, row === undefined ? 'repeated' : settle(row, attempt, retryDelaysMs));
    }
    await updateDeliveries(transaction, [...rows.values()]);
    await addStatistics(transaction, fresh, firstDelivered);
    return { verdicts, unhealthy: await judgeWebhooks(transaction, fresh) };
  });
}

interface OutboxRow {
  readonly id: string;
  status: string;
  retries: number;
  /** Null: unchanged. */
  delayMs: number | null;
  body: string | null;
  resend: string | null;
  deliveredAt: Date | null;
}

async function lockDeliveries(
  transaction: Transaction,
  attempts: readonly Attempt[],
): Promise<Map<string, OutboxRow>> {
  const rows = await transaction.query<OutboxRow>(
    sql`SELECT id, status, retries, NULL AS "delayMs", body, resend, delivered_at
     FROM stream_deliveries WHERE id = ANY (${attempts.map(({ delivery }) => delivery.id)}::uuid[]) ORDER BY id FOR UPDATE`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

function settle(row: OutboxRow, attempt: Attempt, retryDelaysMs: readonly number[]): DeliveryVerdict {
  const { outcome, delivery, finishedAt } = attempt;
  row.body = attempt.body;
  if (outcome.success) {
    const verdict = row.deliveredAt === null ? 'delivered' : 'repeated';
    row.status = 'delivered';
    row.deliveredAt ??= finishedAt;
    row.resend = null;
    return verdict;
  }
  // After an expired lease, another process may have made this attempt.
  if (row.status !== 'pending' || row.retries !== delivery.retries) return 'repeated';
  row.retries += 1;
  const requestedAgain = row.resend !== delivery.resend;
  const delayMs = retryDelay(retryDelaysMs, row.retries, requestedDelay(outcome, finishedAt));
  if (!requestedAgain) row.resend = null;
  if (delayMs === null && !requestedAgain) {
    row.status = row.deliveredAt === null ? 'failed' : 'delivered';
    return 'gave-up';
  }
  row.delayMs = requestedAgain ? 0 : (delayMs ?? 0);
  return 'retrying';
}

async function updateDeliveries(transaction: Transaction, rows: readonly OutboxRow[]): Promise<void> {
  const column = <Key extends keyof OutboxRow>(key: Key): OutboxRow[Key][] => rows.map((row) => row[key]);
  await transaction.query(
    sql`UPDATE stream_deliveries d SET status = new.status, retries = new.retries,
       due_at = coalesce(now() + new.delay_ms * interval '1 millisecond', d.due_at), body = new.body,
       resend = new.resend, delivered_at = new.delivered_at
     FROM unnest(${column('id')}::uuid[], ${column('status')}::text[], ${column('retries')}::int[], ${column('delayMs')}::float8[], ${column('body')}::text[], ${column('resend')}::text[], ${column('deliveredAt')}::timestamptz[])
       AS new(id, status, retries, delay_ms, body, resend, delivered_at)
     WHERE d.id = new.id`,
  );
}

async function insertAttempts(transaction: Transaction, attempts: readonly Attempt[]): Promise<Set<string>> {
  const column = <T>(read: (attempt: Attempt) => T): T[] => attempts.map(read);
  const rows = await transaction.query<{ id: string }>(
    sql`INSERT INTO stream_attempts (id, delivery_id, stream_id, chain_id, block_number, confirmed, webhook_url, tag, retries,
       success, http_status, error_message, body, records, duration_ms, created_at)
     SELECT * FROM unnest(${column(({ id }) => id)}::uuid[], ${column(({ delivery }) => delivery.id)}::uuid[], ${column(({ delivery }) => delivery.streamId)}::uuid[], ${column(({ delivery }) => delivery.chainId)}::bigint[], ${column(({ delivery }) => delivery.blockNumber)}::bigint[], ${column(({ delivery }) => delivery.kind === 'confirmed')}::boolean[], ${column(({ delivery }) => delivery.webhookUrl)}::text[],
       ${column(({ delivery }) => delivery.tag)}::text[], ${column(({ delivery }) => delivery.retries)}::int[], ${column(({ outcome }) => outcome.success)}::boolean[], ${column(({ outcome }) => outcome.httpStatus)}::int[], ${column(({ outcome }) => outcome.errorMessage)}::text[], ${column(({ outcome, body }) => (outcome.success ? null : body))}::text[], ${column(({ delivery }) => recordsOf(delivery))}::int[], ${column(({ outcome }) => outcome.durationMs)}::int[],
       ${column(({ finishedAt }) => finishedAt)}::timestamptz[])
     ON CONFLICT (created_at, id) DO NOTHING RETURNING id`,
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * `WEBHOOK_RETRIES`: apps/chainstead/src/configuration/webhook-keys.ts, docs/api/streams.md#retries.
 * Null: no attempt is left. `atLeastMs` never shortens the schedule.
 */
export function retryDelay(delaysMs: readonly number[], failures: number, atLeastMs = 0): number | null {
  const delayMs = delaysMs[failures - 1];
  return delayMs === undefined ? null : Math.max(delayMs, atLeastMs);
}

const REQUESTED_MAX_MS = 3_600_000;
const BUSY_STATUSES: ReadonlySet<number | null> = new Set([429, 503]);

/** Milliseconds of `Retry-After` (seconds or HTTP date), at most an hour; 0 without one. */
export function requestedDelay(
  { httpStatus, retryAfter }: Pick<AttemptOutcome, 'httpStatus' | 'retryAfter'>,
  now: Date,
): number {
  if (retryAfter === undefined || !BUSY_STATUSES.has(httpStatus)) return 0;
  const text = retryAfter.trim();
  const delayMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return delayMs > 0 ? Math.min(delayMs, REQUESTED_MAX_MS) : 0;
}
