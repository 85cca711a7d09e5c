import type { Chain } from '@chainstead/chains';
import {
  type Clock,
  createMetricsRegistry,
  type Finding,
  findingsOf,
  quotable,
  silentLogger,
} from '@chainstead/core';
import { createNewHeadsSubscription } from '../heads/new-heads-subscription.ts';
import { DEFAULT_LIMITS } from '../limits/pool-limits.ts';
import { createPoolMetrics } from '../pool-metrics.ts';
import { createUpstreamState } from '../upstream/create-upstream-state.ts';
import type { UpstreamConfig } from '../upstream-pool.ts';

const subscription = findingsOf('announcements of blocks');

const WAIT_MIN_MS = 5_000;
const WAIT_MAX_MS = 20_000;
const WAIT_BLOCKS = 3;
const NOTED_MS = 50;

export async function checkSubscription(options: {
  readonly chain: Chain;
  readonly config: UpstreamConfig;
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<Finding> {
  const { chain, name } = options;
  const waitMs = Math.min(WAIT_MAX_MS, Math.max(WAIT_MIN_MS, chain.blockTimeMs * WAIT_BLOCKS));
  const shared = { name, chain, clock: options.clock, logger: silentLogger(), limits: DEFAULT_LIMITS };
  const state = createUpstreamState({ ...shared, metrics: createPoolMetrics(createMetricsRegistry()) });
  const announced = createNewHeadsSubscription({
    ...shared,
    config: options.config,
    state,
    acceptsChainId: (id) => id === chain.id || chain.aliasIds.includes(id),
  });
  announced.start();
  try {
    const startedAt = performance.now();
    const number = await announced.next(null, AbortSignal.any([options.signal, AbortSignal.timeout(waitMs)]));
    const ms = Math.round(performance.now() - startedAt);
    if (number !== null) return subscription.ok(`block ${number}, after ${ms} ms`);
    // The reason is recorded just after the waiter resumes.
    await options.clock.sleep(NOTED_MS);
    const { lastError, reason } = state.status(null, null);
    if (state.disabledReason === null)
      return subscription.warning(
        `subscribed; no block came within ${Math.round(ms / 1_000)} s`,
        'Heads are polled over HTTP until one is announced.',
        'Check that the chain produces blocks.',
      );
    return subscription.bad(
      `no subscription: ${quotable(lastError?.text ?? reason ?? 'no answer')}`,
      'No heads are announced. They are polled over HTTP instead.',
      'Check the address, that WebSockets are enabled, and that any proxy in between forwards them.',
    );
  } finally {
    announced.close();
  }
}
