import type { Transaction } from '@chainstead/db';

/** Postgres' channel on which new webhooks are told of once their transaction has committed. The outbox remains the truth. */
export const DELIVERIES_CHANNEL = 'chainstead_deliveries';

/** Wakes whoever listens. */
export async function announceDeliveries(transaction: Transaction): Promise<void> {
  await transaction.query(`NOTIFY ${DELIVERIES_CHANNEL}`);
}
