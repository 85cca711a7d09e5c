import { createHash, randomUUID } from 'node:crypto';
import type { Egress } from '@chainstead/egress';
import { createLocalLimits, type SharedLimits } from '@chainstead/http';
import { TEST_BODY } from '../payload/render-body.ts';
import { webhookHeaders } from '../payload/signature.ts';
import type { StreamSettings } from '../records/settings.ts';
import type { TestWebhook } from '../stream-services.ts';
import type { AttemptOutcome } from './delivery.ts';
import { postWebhook } from './post-webhook.ts';

export interface TestWebhookOptions {
  readonly egress: Egress;
  readonly settings: () => Promise<StreamSettings>;
  /** Timestamp for the webhook signature: the database time, as for real webhooks. Milliseconds since the epoch. */
  readonly sentAt: () => Promise<number>;
  /** Counts tests. Default: a private counter. */
  readonly limits?: SharedLimits;
  /** Maximum tests per minute for one host, whatever the rest of the URL. Default 30. */
  readonly perHost?: number;
  /** Maximum tests per minute for one key, across all hosts. Default 120. */
  readonly perKey?: number;
}

const MINUTE_MS = 60_000;
const PER_HOST = 30;
const PER_KEY = 120;

/**
 * Sends the test webhook to a URL. `too-many`: not sent because the limit was reached. Never throws for receiver
 * failures.
 * @param requestedBy the key's id
 */
export type ProbeWebhook = (webhookUrl: string, requestedBy: string) => Promise<AttemptOutcome | 'too-many'>;

/** Creates the mandatory test, which decides whether a stream may start. */
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

/**
 * Creates the test webhook (docs/api/streams-reference.md#test-webhook): signed like real webhooks, not retried, not
 * stored. Limited per host and per key, across all processes that share the limits, so that creating streams can't
 * flood a third party.
 */
export function createProbeWebhook(options: TestWebhookOptions): ProbeWebhook {
  const { egress, settings, sentAt, limits = createLocalLimits() } = options;
  let counts: ReturnType<typeof addCounts> | null = null;

  return async (webhookUrl, requestedBy) => {
    // Registered on the first test: other processes don't exchange counts.
    counts ??= addCounts(limits, options);
    const { hosts, keys } = counts;
    const spendings = [hosts.budgetOf(hostId(webhookUrl)), keys.budgetOf(requestedBy)];
    if ((await limits.spend(spendings.map((budget) => ({ budget, amount: 1 })))) > 0) return 'too-many';
    const { region, secretKey, previousSecretKey } = await settings();
    const headers = webhookHeaders({
      body: TEST_BODY,
      id: randomUUID(),
      sentAt: new Date(await sentAt()),
      secrets: { current: secretKey, previous: previousSecretKey },
      queueSize: 0,
      region,
      // As in the body; there are no records to charge for.
      confirmed: true,
      records: 0,
    });
    return postWebhook(egress, { url: webhookUrl, headers, body: TEST_BODY, showsAnswer: true });
  };
}

function addCounts(limits: SharedLimits, { perHost = PER_HOST, perKey = PER_KEY }: TestWebhookOptions) {
  return {
    hosts: limits.add({ name: 'test-host', budget: perHost, windowMs: MINUTE_MS }),
    keys: limits.add({ name: 'test-key', budget: perKey, windowMs: MINUTE_MS }),
  };
}

/** Hash of the host alone, without the rest of the URL: short, and no name is visible in the limit store. */
function hostId(url: string): string {
  const host = URL.parse(url)?.host ?? url;
  return createHash('sha256').update(host).digest('base64url').slice(0, 22);
}
