import { defineError } from '@chainstead/core';

/** The next attempt is in `waitMs`. */
export class WebhookCallsLimitedError extends defineError('WEBHOOK_CALLS_LIMITED', (waitMs: number) => ({
  message: `Triggers, native balances and tokens of this key's webhooks need more node calls than a key may make. The webhook is made in ${Math.ceil(waitMs / 1_000)} s`,
  facts: { wait_ms: waitMs },
  remedy: 'Use fewer triggers and native balances, or raise ON_DEMAND_CALLS_PER_KEY',
  retryable: true,
})) {
  readonly waitMs: number;
  constructor(waitMs: number) {
    super(waitMs);
    this.waitMs = waitMs;
  }
}
