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
  /** The time that the webhook is signed with: the database's, as for real ones. Milliseconds since the epoch. */
  readonly sentAt: () => Promise<number>;
  /** Where tests are counted. Default: by themselves. */
  readonly limits?: SharedLimits;
  /** Tests at most within a minute of one host, whatever the rest of the URL. Default 30. */
  readonly perHost?: number;
  /** And of all hosts by one key. Default 120. */
  readonly perKey?: number;
}

const MINUTE_MS = 60_000;
const PER_HOST = 30;
const PER_KEY = 120;

/**
 * Sends the test webhook to a URL. `too-many`: it was not sent, too many were asked for lately. Never throws for what the receiver does.
 * @param requestedBy the key's id
 */
export type ProbeWebhook = (webhookUrl: string, requestedBy: string) => Promise<AttemptOutcome | 'too-many'>;

/** The mandatory test, which says whether a stream may start. */
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
 * The test webhook (docs/provider-contract.md#test-webhook): signed like real webhooks, not retried, not stored. Limited by host and by key, so that
 * creating streams can't be used to flood a stranger: over all processes that share the limits.
 */
export function createProbeWebhook(options: TestWebhookOptions): ProbeWebhook {
  const { egress, settings, sentAt, limits = createLocalLimits() } = options;
  let counts: ReturnType<typeof addCounts> | null = null;

  return async (webhookUrl, requestedBy) => {
    // Where nobody tests, no process asks how many there are.
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
      // As the body says; it holds nothing to charge for.
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

/** Of the host alone, whatever the rest of its URL; short, and no name, as it stands in the store of the limits. */
function hostId(url: string): string {
  const host = URL.parse(url)?.host ?? url;
  return createHash('sha256').update(host).digest('base64url').slice(0, 22);
}
