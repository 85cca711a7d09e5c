import type { Clock, Logger, Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import {
  type BodyBudget,
  createLocalLimits,
  type KeyStore,
  type RawGate,
  type RawHandler,
  type SharedLimits,
  type UpgradeHandler,
} from '@chainstead/http';
import { createRateLimits, type RateLimitOptions } from './access/rate-limits.ts';
import type { AnswerCall, GatewayChain } from './call.ts';
import type { Filters } from './filters/filters.ts';
import { createAnswerRequest } from './serving/answer-request.ts';
import { createAnswerStateful } from './serving/answer-stateful.ts';
import { type CallDirectly, createDirectCalls } from './serving/call-directly.ts';
import { createGatewayHandler } from './serving/gateway-handler.ts';
import { createPoolStart } from './serving/pool-start.ts';
import { createRefusalCount } from './serving/refusals.ts';
import { createServeBody } from './serving/serve-body.ts';
import { createSocketServer, type SocketLimits } from './sockets/socket-server.ts';
import type { ChainFeeds } from './subscriptions/chain-feeds.ts';
import { createUsageCounter } from './usage/usage-counter.ts';

export interface GatewayLimits extends RateLimitOptions {
  /** Largest request body. Bytes. */
  readonly bodyBytesMax: number;
  /** What bodies may take all together; shared with the API. */
  readonly bodies: BodyBudget;
  /** After this, calls of a request that have no answer yet are answered −32002. Milliseconds. */
  readonly requestTimeoutMs: number;
  readonly sockets: SocketLimits;
}

export interface GatewayServerOptions {
  readonly chains: readonly GatewayChain[];
  /** What to say to a caller with a key who asks for another chain, by its path segment. */
  readonly explainUnoffered: (slug: string) => string;
  /** Cache, heads and upstreams behind the protocol. */
  readonly answer: AnswerCall;
  /** What subscriptions are told from. */
  readonly feeds: ChainFeeds;
  readonly filters: Filters;
  /** Where usage is kept. */
  readonly database: Database;
  readonly keys: KeyStore;
  readonly gate: RawGate;
  readonly limits: GatewayLimits;
  /** Whether methods are offered that make nodes execute transactions again (`debug_trace…`, `trace_…`). Default: they are not. */
  readonly offersTraces?: boolean;
  /** Where the calls of keys are counted, to be closed by its owner. Default: in this process alone. */
  readonly sharedLimits?: SharedLimits;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock: Clock;
}

export interface GatewayServer {
  readonly handler: RawHandler;
  /** Takes the WebSockets. */
  readonly upgrades: UpgradeHandler;
  /** For other routes of this process. */
  readonly call: CallDirectly;
  /** Writes the usage that is not written yet. */
  close(): Promise<void>;
}

/**
 * JSON-RPC over HTTP and WebSockets in front of an answer. The way of a request: `gateway-handler.ts` (who may pass), `serve-body.ts` (its
 * calls), `answer-request.ts` (one call), the given `answer`. Messages of a socket (`../sockets`) go the same way.
 */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { chains, keys, gate, limits, logger, clock, database } = options;
  const usage = createUsageCounter({ database, logger, clock });
  const answerRequest = createAnswerRequest({
    answer: options.answer,
    answerStateful: createAnswerStateful({ filters: options.filters, logger }),
    rateLimits: createRateLimits(limits, options.sharedLimits ?? createLocalLimits(clock)),
    usage,
    countRefusal: createRefusalCount(options.metrics),
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
