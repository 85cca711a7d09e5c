import type { Clock, Logger, Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import {
  type ByteBudget,
  createLocalLimits,
  type KeyStore,
  type RawGate,
  type RawHandler,
  type SharedLimits,
  type UpgradeHandler,
} from '@chainstead/http/server';
import { createRateLimits, type RateLimitOptions } from './access/rate-limits.ts';
import type { GatewayChain, HandleCall } from './call.ts';
import type { Filters } from './filters/filters.ts';
import { createGatewayMetrics } from './gateway-metrics.ts';
import { createAnswerRequest, createAnswerStateful } from './serving/answer-request.ts';
import { type CallDirectly, createDirectCalls } from './serving/call-directly.ts';
import { createGatewayHandler } from './serving/gateway-handler.ts';
import { createPoolStart } from './serving/open-scope.ts';
import { createServeBody } from './serving/serve-body.ts';
import { createSocketServer, type SocketLimits } from './sockets/socket-server.ts';
import type { ChainFeeds } from './subscriptions/pending-feed.ts';
import { createUsageCounter } from './usage/usage-counter.ts';

export interface GatewayLimits extends RateLimitOptions {
  readonly bodyBytesMax: number;
  readonly bodies: ByteBudget;
  /** Unfinished calls then return −32002. */
  readonly requestTimeoutMs: number;
  readonly sockets: SocketLimits;
}

export interface GatewayServerOptions {
  readonly chains: readonly GatewayChain[];
  readonly explainUnoffered: (slug: string) => string;
  readonly answer: HandleCall;
  readonly feeds: ChainFeeds;
  readonly filters: Filters;
  readonly database: Database;
  readonly keys: KeyStore;
  readonly gate: RawGate;
  readonly limits: GatewayLimits;
  /** `debug_trace…` and `trace_…`: nodes execute transactions again. Default: no. */
  readonly offersTraces?: boolean;
  readonly sharedLimits?: SharedLimits;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock: Clock;
}

export interface GatewayServer {
  readonly handler: RawHandler;
  readonly upgrades: UpgradeHandler;
  readonly call: CallDirectly;
  close(): Promise<void>;
}

/** Start with `gateway-handler.ts` (admission), `serve-body.ts` and `answer-request.ts` (calls). */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { chains, keys, gate, limits, logger, clock, database } = options;
  const usage = createUsageCounter({ database, logger, clock });
  const answerRequest = createAnswerRequest({
    answer: options.answer,
    answerStateful: createAnswerStateful(options.filters, logger),
    rateLimits: createRateLimits(limits, options.sharedLimits ?? createLocalLimits(clock)),
    usage,
    metrics: createGatewayMetrics(options.metrics),
    offersTraces: options.offersTraces,
    logger,
  });
  const served = new Map(
    chains.map((chain) => [chain.slug, { chain, start: createPoolStart(chain, { clock, logger }) }]),
  );
  const shared = {
    chains: served,
    gate,
    keys,
    serveBody: createServeBody({ answerRequest, timeoutMs: limits.requestTimeoutMs }),
    bodyBytesMax: limits.bodyBytesMax,
    bodies: limits.bodies,
    logger,
  };
  return {
    handler: createGatewayHandler({ ...shared, explainUnoffered: options.explainUnoffered }),
    upgrades: createSocketServer({
      ...shared,
      feeds: options.feeds,
      usage,
      limits: limits.sockets,
      metrics: options.metrics,
    }),
    call: createDirectCalls(served.values(), answerRequest),
    close: () => usage.close(),
  };
}
