import type { Chain } from '@chainstead/chains';
import { type Clock, type Logger, type Registry, systemClock } from '@chainstead/core';
import { createBlockFetcher } from './blocks/fetch-blocks.ts';
import { createReceiptFetcher } from './blocks/fetch-receipts.ts';
import { createFailover } from './failover/failover.ts';
import { createManyRequester } from './failover/nullable-operation.ts';
import { createBroadcaster } from './forward/broadcast-transaction.ts';
import { createCallForwarder, createRequestForwarder } from './forward/forward-request.ts';
import type { ForwardingPool } from './forwarding-pool.ts';
import { createHeadTracker, type HeadTracker } from './heads/head-tracker.ts';
import { createNewHeadsSubscription } from './heads/new-heads-subscription.ts';
import { createHeadProbe } from './heads/probe-head.ts';
import { createFinalityReader } from './heads/read-finality.ts';
import { createUpstreamCheck } from './heads/upstream-check.ts';
import { DEFAULT_LIMITS, type PoolLimits, type UpstreamLimits } from './limits/call-limits.ts';
import { bothPaces } from './limits/learned-pace.ts';
import { createLocalUpstreamLimits } from './limits/local-limits.ts';
import { createLogFetcher } from './logs/fetch-logs.ts';
import { createPoolMetrics } from './pool-metrics.ts';
import { nameUpstreams } from './redact-secrets.ts';
import { createDeadlines } from './transport/deadlines.ts';
import { createUpstreamState } from './upstream/create-upstream-state.ts';
import { lagTolerance } from './upstream/read-head.ts';
import { createUpstream, type Upstream } from './upstream/upstream.ts';
import type { OnWrongAnswer, UpstreamConfig } from './upstream-pool.ts';

export interface UpstreamPoolOptions {
  readonly chain: Chain;
  readonly upstreams: readonly UpstreamConfig[];
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock?: Clock;
  readonly limits?: Partial<PoolLimits>;
  readonly callLimits?: UpstreamLimits | undefined;
  /** @default the chain's */
  readonly pollIntervalMs?: number;
  readonly onWrongAnswer?: OnWrongAnswer | undefined;
}

/** No request is sent before `start()`, which throws NoUpstreamError if none is usable. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: puts the parts of a pool together, each of which is elsewhere.
export function createUpstreamPool(options: UpstreamPoolOptions): ForwardingPool {
  const { chain, logger, clock = systemClock } = options;
  const limits: PoolLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const metrics = createPoolMetrics(options.metrics);
  const deadlines = createDeadlines();
  const callLimits = options.callLimits ?? createLocalUpstreamLimits(clock);
  const shared = { chain, clock, logger, limits, metrics, deadlines, onWrongAnswer: options.onWrongAnswer };
  const pollIntervalMs = options.pollIntervalMs ?? chain.pollIntervalMs;
  const lag = {
    lagToleranceBlocks: lagTolerance({ blockTimeMs: chain.blockTimeMs, pollIntervalMs }),
    bestOfOthers: (name: string) => heads.bestNumber(name),
  };
  const names = nameUpstreams(options.upstreams);
  const configured = options.upstreams.map((config, index) => ({ config, name: names[index] ?? config.url }));
  const upstreams: Upstream[] = configured
    .filter(({ config }) => /^https?:/.test(config.url))
    .map(({ config, name }) => {
      const learned = callLimits.learnedPaceOf(config);
      const pace = bothPaces(callLimits.rateLimiterOf(config), learned);
      const slots = callLimits.concurrencyLimiterOf(config);
      return createUpstream({ ...shared, ...lag, config, name, pace, learned, slots });
    });
  // Private relays only take transactions, if the operator chose them.
  const isPublic = upstreams.some(({ config }) => config.isPrivate !== true);
  const open = isPublic ? upstreams.filter(({ config }) => config.isPrivate !== true) : upstreams;
  const acceptsChainId = (id: number): boolean => id === chain.id || chain.aliasIds.includes(id);
  const closing = new AbortController();
  const subscriptions = configured
    .filter(({ config }) => /^wss?:/.test(config.url))
    .map(({ config, name }) => {
      const state = createUpstreamState({ ...shared, name, closing: closing.signal });
      return createNewHeadsSubscription({ ...shared, config, acceptsChainId, state });
    });
  const probe = createHeadProbe({ clock });
  const polling = { subscriptions, probe, pollIntervalMs, closing: closing.signal };
  const heads: HeadTracker = createHeadTracker({ ...shared, ...polling, upstreams: open });
  const failover = createFailover({ ...shared, upstreams: open, bestHead: heads.bestNumber });
  const blocks = createBlockFetcher({ failover });
  const receipts = createReceiptFetcher({ failover, chain });
  const logs = createLogFetcher({ failover, chain, limits, upstreams: open });
  const check = createUpstreamCheck({ ...shared, upstreams, acceptsChainId, probe, closing: closing.signal });
  const finality = createFinalityReader({ chain, failover, probe, heads });
  const broadcast = createBroadcaster({ chain, upstreams: open });
  const forwarding = { failover, upstreams: open, probe, broadcast };

  return {
    chainId: chain.id,
    async start() {
      for (const subscription of subscriptions) subscription.start();
      await check.start();
    },
    request: createRequestForwarder({ failover }),
    requestMany: createManyRequester({ failover }),
    forward: createCallForwarder({ ...forwarding, blockTimeMs: chain.blockTimeMs, bestHead: heads.bestNumber }),
    broadcast,
    getHead: heads.getHead,
    getFinalized: finality.getFinalized,
    waitForHead: heads.waitForHead,
    ...blocks,
    ...receipts,
    ...logs,
    reportFault(name, kind, facts) {
      const upstream = upstreams.find((candidate) => candidate.name === name);
      upstream?.state.blamed(kind, JSON.stringify(facts)?.slice(0, 300) ?? '');
      logger.warn({ ...facts, chain: chain.key, upstream: name, kind }, 'Upstream gave a wrong answer');
      void check.doubt(name, null);
    },
    checkChain: check.doubt,
    status: () => {
      const best = heads.bestNumber();
      const order = new Map(names.map((name, index) => [name, index]));
      return [
        ...upstreams.map(({ state, logRanges }) => state.status(best, logRanges.cap)),
        ...subscriptions.map(({ state }) => state.status(best, null)),
      ].toSorted((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0));
    },
    async close() {
      closing.abort();
      for (const subscription of subscriptions) subscription.close();
      await Promise.all(upstreams.map((upstream) => upstream.close()));
      for (const upstream of names)
        for (const gauge of [metrics.upstreamHead, metrics.circuitState])
          gauge.remove({ chain: chain.key, upstream });
    },
  };
}
