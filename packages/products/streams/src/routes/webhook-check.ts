import type { StreamConfig } from '../stream.ts';
import type { StreamServices } from '../stream-services.ts';
import { WebhookTestError, WebhookTestsLimitedError } from './stream-errors.ts';

/** `requestedBy`: the key's id. @throws WebhookTestError, WebhookTestsLimitedError */
export async function requireWebhook(
  { testWebhook }: Pick<StreamServices, 'testWebhook'>,
  stream: StreamConfig,
  requestedBy: string,
): Promise<void> {
  const test = await testWebhook(stream, requestedBy);
  if (test.ok) return;
  if (test.reason === 'too-many') throw new WebhookTestsLimitedError();
  throw new WebhookTestError(stream.webhookUrl, test.reason === 'not-allowed' ? test.range : null);
}
