import type { Chain } from '@chainstead/chains';
import { type Clock, type Logger, type Registry, systemClock } from '@chainstead/core';
import { createBroadcaster } from './broadcast-transaction.ts';
import { createUpstreamState } from './create-upstream-state.ts';
import { createDeadlines } from './deadlines.ts';
import { createFailover } from './failover.ts';
import { createBlockFetcher } from './fetch-blocks.ts';
import { createLogFetcher } from './fetch-logs.ts';
import { createReceiptFetcher } from './fetch-receipts.ts';
import { createCallForwarder } from './forward-call.ts';
import { createRequestForwarder } from './forward-request.ts';
import type { ForwardingPool } from './forwarding-pool.ts';
import { createHeadTracker, type HeadTracker } from './head-tracker.ts';
import { lagTolerance } from './lag-watch.ts';
import { createNewHeadsSubscription } from './new-heads-subscription.ts';
import { DEFAULT_LIMITS, type PoolLimits } from './pool-limits.ts';
import { createPoolMetrics } from './pool-metrics.ts';
import { createHeadProbe } from './probe-head.ts';
import { createFinalityReader } from './read-finality.ts';
import { nameUpstreams } from './redact-secrets.ts';
import { createManyRequester } from './request-many.ts';
import type { CallLimits } from './shares/call-limits.ts';
import { createLocalLimits } from './shares/limiters.ts';
import { createUpstream, type Upstream } from './upstream.ts';
import { createUpstreamCheck } from './upstream-check.ts';
import type { OnWrongAnswer, UpstreamConfig } from './upstream-pool.ts';

/** What a pool is made of. */
export interface UpstreamPoolOptions {
  readonly chain: Chain;
  readonly upstreams: readonly UpstreamConfig[];
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock?: Clock;
  readonly limits?: Partial<PoolLimits>;
  /** Limits that are shared with others who call the same upstreams. Default: those of this pool alone. */
  readonly callLimits?: CallLimits | undefined;
  /** Milliseconds between head polls; the chain's own by default. */
  readonly pollIntervalMs?: number;
  /** Told of each answer that is found out to be wrong. @default nobody is */
  readonly onWrongAnswer?: OnWrongAnswer | undefined;
}

/**
 * The pool of one chain's upstreams. Nothing is sent before `start()`.
 * @throws NoUpstreamError from start() when none can be used
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: puts the parts of a pool together, each of which is elsewhere.
export function createUpstreamPool(options: UpstreamPoolOptions): ForwardingPool {
  const { chain, logger, clock = systemClock } = options;
  const limits: PoolLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const metrics = createPoolMetrics(options.metrics);
  const deadlines = createDeadlines();
  const callLimits = options.callLimits ?? createLocalLimits(clock);
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
    .map(({ config, name }) =>
      createUpstream({
        ...shared,
        ...lag,
        config,
        name,
        pace: callLimits.paceOf(config),
        slots: callLimits.slotsOf(config),
      }),
    );
  // Private relays take transactions for those who chose them, and serve no reads.
  const isPublic = upstreams.some(({ config }) => config.isPrivate !== true);
  const open = isPublic ? upstreams.filter(({ config }) => config.isPrivate !== true) : upstreams;
  const acceptsChainId = (id: number): boolean => id === chain.id || chain.aliasIds.includes(id);
  const subscriptions = configured
    .filter(({ config }) => /^wss?:/.test(config.url))
    .map(({ config, name }) =>
      createNewHeadsSubscription({
        ...shared,
        config,
        acceptsChainId,
        state: createUpstreamState({ ...shared, name }),
      }),
    );
  const closing = new AbortController();
  const probe = createHeadProbe({ clock });
  const heads: HeadTracker = createHeadTracker({
    ...shared,
    upstreams: open,
    subscriptions,
    probe,
    pollIntervalMs,
    closing: closing.signal,
  });
  const failover = createFailover({ ...shared, upstreams: open, bestHead: heads.bestNumber });
  const blocks = createBlockFetcher({ failover });
  const receipts = createReceiptFetcher({ failover, chain });
  const logs = createLogFetcher({ failover, chain, limits, upstreams: open });
  const check = createUpstreamCheck({ ...shared, upstreams, acceptsChainId, probe, closing: closing.signal });
  const finality = createFinalityReader({ chain, failover, probe, heads });

  const broadcast = createBroadcaster({ chain, upstreams: open });

  return {
    chainId: chain.id,
    async start() {
      for (const subscription of subscriptions) subscription.start();
      await check.start();
    },
    request: createRequestForwarder({ failover }),
    requestMany: createManyRequester({ failover }),
    forward: createCallForwarder({
      failover,
      upstreams: open,
      probe,
      blockTimeMs: chain.blockTimeMs,
      bestHead: heads.bestNumber,
      broadcast,
    }),
    broadcast,
    getHead: heads.getHead,
    getFinalized: finality.getFinalized,
    waitForHead: heads.waitForHead,
    getBlock: blocks.getBlock,
    getHeaders: blocks.getHeaders,
    getReceipts: receipts.getReceipts,
    getWholeBlock: receipts.getWholeBlock,
    getLogs: logs.getLogs,
    estimateLogCalls: logs.estimateLogCalls,
    reportFault(name, kind, facts) {
      const upstream = upstreams.find((candidate) => candidate.name === name);
      upstream?.state.blamed(kind, JSON.stringify(facts)?.slice(0, 300) ?? '');
      logger.warn({ ...facts, chain: chain.key, upstream: name, kind }, 'Upstream gave a wrong answer');
    },
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
      // Nobody looks after them any more: what they were last is not what they are.
      for (const upstream of names)
        for (const gauge of [metrics.head, metrics.circuit]) gauge.remove({ chain: chain.key, upstream });
    },
  };
}
