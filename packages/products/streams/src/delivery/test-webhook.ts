import { createHash, randomUUID } from 'node:crypto';
import type { Egress } from '@chainstead/egress';
import { createLocalLimits, type SharedLimits } from '@chainstead/http/server';
import { TEST_BODY } from '../payload/render-body.ts';
import { webhookHeaders } from '../payload/signature.ts';
import type { StreamSettings } from '../records/settings.ts';
import type { TestWebhook } from '../stream-services.ts';
import { postWebhook } from './deliver.ts';
import type { AttemptOutcome } from './outbox.ts';

export interface TestWebhookOptions {
  readonly egress: Egress;
  readonly settings: () => Promise<StreamSettings>;
  readonly sentAt: () => Promise<number>;
  readonly limits?: SharedLimits;
  readonly perHost?: number;
  readonly perKey?: number;
}

const MINUTE_MS = 60_000;

/** Never throws for receiver failures. `requestedBy`: the key's id. */
export type ProbeWebhook = (webhookUrl: string, requestedBy: string) => Promise<AttemptOutcome | 'too-many'>;

export function createTestWebhook(probe: ProbeWebhook): TestWebhook {
  return async ({ webhookUrl }, requestedBy) => {
    const outcome = await probe(webhookUrl, requestedBy);
    if (outcome === 'too-many') return { ok: false, reason: 'too-many' };
    if (outcome.success) return { ok: true };
    return outcome.blockedRange === undefined
      ? { ok: false, reason: 'unreachable' }
      : { ok: false, reason: 'not-allowed', range: outcome.blockedRange };
  };
}

/** Signed, not retried, not stored. Limited, so that new streams can't flood a third party. */
export function createProbeWebhook(options: TestWebhookOptions): ProbeWebhook {
  const { egress, settings, sentAt, limits = createLocalLimits(), perHost = 30, perKey = 120 } = options;
  let counts: Record<'hosts' | 'keys', ReturnType<SharedLimits['add']>> | null = null;

  return async (webhookUrl, requestedBy) => {
    // Registered on the first test: other processes don't exchange counts.
    counts ??= {
      hosts: limits.add({ name: 'test-host', budget: perHost, windowMs: MINUTE_MS }),
      keys: limits.add({ name: 'test-key', budget: perKey, windowMs: MINUTE_MS }),
    };
    const host = URL.parse(webhookUrl)?.host ?? webhookUrl;
    // Short, and the limit store shows no name.
    const hostId = createHash('sha256').update(host).digest('base64url').slice(0, 22);
    const spendings = [counts.hosts.budgetOf(hostId), counts.keys.budgetOf(requestedBy)];
    if ((await limits.spend(spendings.map((budget) => ({ budget, amount: 1 })))) > 0) return 'too-many';
    const { region, secretKey, previousSecretKey } = await settings();
    const headers = webhookHeaders({
      body: TEST_BODY,
      id: randomUUID(),
      sentAt: new Date(await sentAt()),
      secrets: { current: secretKey, previous: previousSecretKey },
      queueSize: 0,
      region,
      confirmed: true,
      records: 0,
    });
    return postWebhook(egress, { url: webhookUrl, headers, body: TEST_BODY, showsAnswer: true });
  };
}
