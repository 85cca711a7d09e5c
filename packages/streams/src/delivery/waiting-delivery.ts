import type { Database } from '@chainstead/db';
import type { Delivery } from './delivery.ts';

/** Whether a webhook is still to be sent: a reorganisation, a pause or another process may have come in between. */
export async function isStillDue(database: Database, { id, retries }: Delivery): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM stream_deliveries d JOIN streams s ON s.id = d.stream_id
     WHERE d.id = $1 AND d.status = 'pending' AND d.retries = $2 AND s.status = 'active' AND s.deleted_at IS NULL`,
    [id, retries],
  );
  return rows.length > 0;
}

/** For webhooks that can't be sent now. It counts as no attempt. */
export async function postponeDelivery(database: Database, { id, retries }: Delivery, dueAt: Date): Promise<void> {
  await database.query(
    `UPDATE stream_deliveries SET due_at = $3 WHERE id = $1 AND retries = $2 AND status = 'pending'`,
    [id, retries, dueAt],
  );
}

/** For webhooks whose block left the chain before they were sent, or of which nothing is stored any more. */
export async function dropDelivery(database: Database, { id }: Delivery): Promise<void> {
  await database.query(`UPDATE stream_deliveries SET status = 'dropped' WHERE id = $1 AND status = 'pending'`, [id]);
}
