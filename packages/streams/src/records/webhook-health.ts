import type { Transaction } from '@chainstead/db';

/**
 * Forgets how badly a URL answered before, because it has just answered its test webhook: below the threshold of the error
 * state, even a row of successes would be an error again (interface 2.6).
 */
export async function trustWebhook(transaction: Transaction, webhookUrl: string): Promise<void> {
  await transaction.query(
    'UPDATE webhook_health SET success_rate = $2, updated_at = now() WHERE webhook_url = $1 AND success_rate < $3',
    [webhookUrl, SUCCESS_RATE_MAX, SUCCESS_RATE_MIN],
  );
}

const SUCCESS_RATE_MAX = 100;
/** Below this a stream gets into error. Percent. */
const SUCCESS_RATE_MIN = 70;
