import { sql, type Transaction } from '@chainstead/db';

/** Minimum success rate; below it, streams enter `error` (docs/api/streams.md#status). Percent. */
export const SUCCESS_RATE_MIN = 70;
export const SUCCESS_RATE_MAX = 100;

/** After a passed test. Otherwise a low rate would cause the error status again (docs/api/streams.md#status). */
export async function trustWebhook(transaction: Transaction, webhookUrl: string): Promise<void> {
  await transaction.query(
    sql`UPDATE webhook_health SET success_rate = ${SUCCESS_RATE_MAX}, updated_at = now() WHERE webhook_url = ${webhookUrl} AND success_rate < ${SUCCESS_RATE_MIN}`,
  );
}
