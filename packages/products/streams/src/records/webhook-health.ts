import { sql, type Transaction } from '@chainstead/db';

/** Percent. Below it, streams enter `error` (docs/api/streams.md#status). */
export const SUCCESS_RATE_MIN = 70;
export const SUCCESS_RATE_MAX = 100;

/** After a passed test. A low rate would cause the error status again. */
export async function trustWebhook(transaction: Transaction, webhookUrl: string): Promise<void> {
  await transaction.query(
    sql`UPDATE webhook_health SET success_rate = ${SUCCESS_RATE_MAX}, updated_at = now() WHERE webhook_url = ${webhookUrl} AND success_rate < ${SUCCESS_RATE_MIN}`,
  );
}
