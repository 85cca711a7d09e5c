import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import { TEST_BODY } from '../payload/render-body.ts';
import { webhookHeaders } from '../payload/signature.ts';
import type { StreamSettings } from '../records/settings.ts';
import type { TestWebhook } from '../routes/stream-services.ts';
import { postWebhook } from './post-webhook.ts';

export interface TestWebhookOptions {
  readonly egress: Egress;
  readonly settings: () => Promise<StreamSettings>;
  readonly clock?: Clock;
  /** Tests of one URL at most within a minute. Default 30. */
  readonly perMinute?: number;
}

const MINUTE_MS = 60_000;
const PER_MINUTE = 30;
/** URLs whose tests are counted at once; the one tested longest ago is forgotten first. */
const URLS_MAX = 10_000;

/**
 * The mandatory test (interface 2.5): signed like real webhooks, not retried, not stored. Limited by URL, so that creating
 * streams can't be used to flood a stranger.
 */
export function createTestWebhook(options: TestWebhookOptions): TestWebhook {
  const { egress, settings, clock = systemClock, perMinute = PER_MINUTE } = options;
  const testedAt = new Map<string, readonly number[]>();

  /** Whether one more may be sent; counts it when so. */
  function admit(url: string): boolean {
    const now = clock.now();
    const recent = (testedAt.get(url) ?? []).filter((at) => at > now - MINUTE_MS);
    if (recent.length >= perMinute) return false;
    testedAt.delete(url);
    testedAt.set(url, [...recent, now]);
    const [oldest] = testedAt.keys();
    if (testedAt.size > URLS_MAX && oldest !== undefined) testedAt.delete(oldest);
    return true;
  }

  return async ({ webhookUrl }) => {
    if (!admit(webhookUrl)) return { ok: false, reason: 'too-many' };
    const { region, secretKey, previousSecretKey } = await settings();
    const headers = webhookHeaders({
      body: TEST_BODY,
      id: randomUUID(),
      sentAt: new Date(clock.now()),
      secrets: { current: secretKey, previous: previousSecretKey },
      queueSize: 0,
      region,
      // As the body says; it holds nothing to charge for.
      confirmed: true,
      records: 0,
    });
    const { success } = await postWebhook(egress, { url: webhookUrl, headers, body: TEST_BODY });
    return success ? { ok: true } : { ok: false, reason: 'unreachable' };
  };
}
