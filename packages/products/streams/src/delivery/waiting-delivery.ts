import { randomUUID } from 'node:crypto';
import { type Database, sql } from '@chainstead/db';
import { type Delivery, recordsOf } from './delivery.ts';

/** Needs `given(id, retries)`. `OFFSET 0` enforces a look-up per id; a join may read all rows. */
export const STILL_DUE = sql`EXISTS (
  SELECT FROM stream_deliveries d JOIN streams s ON s.id = d.stream_id
  WHERE d.id = given.id AND d.retries = given.retries AND d.status = 'pending' AND s.status = 'active' AND s.deleted_at IS NULL
  OFFSET 0)`;

/** A reorg, a pause or another process may have intervened. */
export async function areStillDue(database: Database, deliveries: readonly Delivery[]): Promise<boolean[]> {
  const rows = await database.query<{ id: string }>(
    sql`SELECT given.id FROM unnest(${deliveries.map(({ id }) => id)}::uuid[], ${deliveries.map(({ retries }) => retries)}::int[]) AS given(id, retries) WHERE ${STILL_DUE}`,
  );
  const due = new Set(rows.map(({ id }) => id));
  return deliveries.map(({ id }) => due.has(id));
}

export async function readResend(database: Database, { id, retries }: Delivery): Promise<string | null> {
  const [row] = await database.query<{ resend: string | null }>(
    sql`SELECT d.resend FROM unnest(${[id]}::uuid[], ${[retries]}::int[]) AS given(id, retries) JOIN stream_deliveries d USING (id)
     WHERE ${STILL_DUE}`,
  );
  return row?.resend ?? null;
}

export async function postponeDelivery(
  database: Database,
  { id, retries }: Delivery,
  waitMs: number,
): Promise<void> {
  await database.query(
    sql`UPDATE stream_deliveries SET due_at = now() + ${waitMs} * interval '1 millisecond' WHERE id = ${id} AND retries = ${retries} AND status = 'pending'`,
  );
}

export async function dropDelivery(database: Database, { id }: Delivery): Promise<void> {
  await database.query(
    sql`UPDATE stream_deliveries SET status = 'dropped' WHERE id = ${id} AND status = 'pending'`,
  );
}

/** As a failed attempt without a body, which can't be resent. */
export async function failDelivery(database: Database, delivery: Delivery, errorMessage: string): Promise<void> {
  const { id, retries, streamId, chainId, blockNumber, kind, webhookUrl, tag } = delivery;
  await database.query(
    sql`WITH failed AS (
       UPDATE stream_deliveries SET status = 'failed', retries = retries + 1
       WHERE id = ${id} AND retries = ${retries} AND status = 'pending' RETURNING id
     ), counted AS (
       UPDATE stream_stats SET webhooks_failed = webhooks_failed + 1, updated_at = now()
       WHERE stream_id = ${streamId} AND EXISTS (SELECT FROM failed)
     )
     INSERT INTO stream_attempts (id, delivery_id, stream_id, chain_id, block_number, confirmed, webhook_url, tag, retries, success,
       error_message, records, duration_ms)
     SELECT ${randomUUID()}, failed.id, ${streamId}, ${chainId}, ${blockNumber}, ${kind === 'confirmed'}, ${webhookUrl}, ${tag}, ${retries}, false, ${errorMessage}, ${recordsOf(delivery)}, 0 FROM failed`,
  );
}
