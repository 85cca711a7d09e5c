import type { StreamConfig } from '../stream.ts';
import { WebhookTestError, WebhookTestsLimitedError } from './stream-errors.ts';
import type { TestWebhook } from './stream-services.ts';

/** Sends the mandatory test webhook, before anything starts. @throws WebhookTestError, WebhookTestsLimitedError */
export async function requireWebhook(testWebhook: TestWebhook, stream: StreamConfig): Promise<void> {
  const test = await testWebhook(stream);
  if (test.ok) return;
  if (test.reason === 'too-many') throw new WebhookTestsLimitedError();
  throw new WebhookTestError(stream.webhookUrl);
}
