import { type Database, sql, type Transaction } from '@chainstead/db';
import { type Attempt, type DeliveryVerdict, recordsOf } from './delivery.ts';
import { recordArrivals } from './record-arrivals.ts';
import { requestedDelay, retryDelay } from './retry-policy.ts';
import { addStatistics } from './statistics.ts';
import { judgeWebhooks, type UnhealthyWebhook } from './success-rate.ts';

export interface Recorded {
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
