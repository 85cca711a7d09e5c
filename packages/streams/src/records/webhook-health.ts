import type { Transaction } from '@chainstead/db';

/** Below it, streams get into error (docs/provider-contract.md#status). Percent. */
export const SUCCESS_RATE_MIN = 70;
export const SUCCESS_RATE_MAX = 100;

/**
 * Forgets how badly a URL answered before, because it has just answered its test webhook: below the threshold of the error
 * state, even a row of successes would be an error again (docs/provider-contract.md#status).
 */
export async function trustWebhook(transaction: Transaction, webhookUrl: string): Promise<void> {
  await transaction.query(
    'UPDATE webhook_health SET success_rate = $2, updated_at = now() WHERE webhook_url = $1 AND success_rate < $3',
    [webhookUrl, SUCCESS_RATE_MAX, SUCCESS_RATE_MIN],
  );
}
