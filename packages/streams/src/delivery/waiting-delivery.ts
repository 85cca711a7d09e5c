import type { Database } from '@chainstead/db';
import type { Delivery } from './delivery.ts';

/** Whether webhooks are still to be sent: a reorganisation, a pause or another process may have come in between. */
export async function areStillDue(database: Database, deliveries: readonly Delivery[]): Promise<boolean[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT d.id FROM unnest($1::uuid[], $2::int[]) AS given(id, retries)
     JOIN stream_deliveries d ON d.id = given.id AND d.retries = given.retries
     JOIN streams s ON s.id = d.stream_id
     WHERE d.status = 'pending' AND s.status = 'active' AND s.deleted_at IS NULL`,
    [deliveries.map(({ id }) => id), deliveries.map(({ retries }) => retries)],
  );
  const due = new Set(rows.map(({ id }) => id));
  return deliveries.map(({ id }) => due.has(id));
}

/** For webhooks that can't be sent now. It counts as no attempt. Milliseconds. */
export async function postponeDelivery(database: Database, { id, retries }: Delivery, waitMs: number): Promise<void> {
  await database.query(
    `UPDATE stream_deliveries SET due_at = now() + $3 * interval '1 millisecond' WHERE id = $1 AND retries = $2 AND status = 'pending'`,
    [id, retries, waitMs],
  );
}

/** For webhooks whose block left the chain before they were sent, or of which nothing is stored any more. */
export async function dropDelivery(database: Database, { id }: Delivery): Promise<void> {
  await database.query(`UPDATE stream_deliveries SET status = 'dropped' WHERE id = $1 AND status = 'pending'`, [id]);
}
