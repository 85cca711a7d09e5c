import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import { TEST_BODY } from '../payload/render-body.ts';
import { webhookHeaders } from '../payload/signature.ts';
import type { StreamSettings } from '../records/settings.ts';
import type { TestWebhook } from '../stream-services.ts';
import { postWebhook } from './post-webhook.ts';

export interface TestWebhookOptions {
  readonly egress: Egress;
  readonly settings: () => Promise<StreamSettings>;
  /** The time that the webhook is signed with: the database's, as for real ones. Milliseconds since the epoch. */
  readonly sentAt: () => Promise<number>;
  /** For counting. */
  readonly clock?: Clock;
  /** Tests at most within a minute of one host, whatever the rest of the URL. Default 30. */
  readonly perHost?: number;
  /** And of all hosts by one key. Default 120. */
  readonly perKey?: number;
}

const MINUTE_MS = 60_000;
const PER_HOST = 30;
const PER_KEY = 120;
/** Hosts or keys whose tests are counted at once; the one of longest ago is forgotten first. */
const COUNTED_MAX = 10_000;

/**
 * The mandatory test (docs/provider-contract.md#test-webhook): signed like real webhooks, not retried, not stored. Limited by host and by key, so that
 * creating streams can't be used to flood a stranger.
 */
export function createTestWebhook(options: TestWebhookOptions): TestWebhook {
  const { egress, settings, sentAt, clock = systemClock } = options;
  const hosts = createMinuteCounts(options.perHost ?? PER_HOST);
  const keys = createMinuteCounts(options.perKey ?? PER_KEY);

  return async ({ webhookUrl }, requestedBy) => {
    const host = URL.parse(webhookUrl)?.host ?? webhookUrl;
    const now = clock.now();
    if (!hosts.hasRoom(host, now) || !keys.hasRoom(requestedBy, now)) return { ok: false, reason: 'too-many' };
    hosts.count(host, now);
    keys.count(requestedBy, now);
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
    const { success, blockedRange } = await postWebhook(egress, { url: webhookUrl, headers, body: TEST_BODY });
    if (success) return { ok: true };
    return blockedRange === undefined
      ? { ok: false, reason: 'unreachable' }
      : { ok: false, reason: 'not-allowed', range: blockedRange };
  };
}

/** What happened within the last minute, by name. */
function createMinuteCounts(max: number) {
  const times = new Map<string, readonly number[]>();
  const recent = (name: string, now: number): readonly number[] =>
    (times.get(name) ?? []).filter((at) => at > now - MINUTE_MS);
  return {
    hasRoom: (name: string, now: number): boolean => recent(name, now).length < max,
    count(name: string, now: number): void {
      const counted = [...recent(name, now), now];
      times.delete(name);
      times.set(name, counted);
      const [oldest] = times.keys();
      if (times.size > COUNTED_MAX && oldest !== undefined) times.delete(oldest);
    },
  };
}
