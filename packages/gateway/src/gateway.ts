import type { Clock, Logger, Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { KeyStore, RawGate, RawHandler, RouteModule } from '@chainstead/http';
import { createRateLimits, type RateLimitOptions } from './access/rate-limits.ts';
import type { AnswerCall, GatewayChain } from './call.ts';
import { createGatewayRoutes } from './routes.ts';
import { createAnswerRequest } from './serving/answer-request.ts';
import { createCallTally } from './serving/call-tally.ts';
import { createGatewayHandler } from './serving/gateway-handler.ts';
import { createPoolStart } from './serving/pool-start.ts';
import { createServeBody } from './serving/serve-body.ts';
import { createUsageCounter } from './usage/usage-counter.ts';

export interface GatewayLimits extends RateLimitOptions {
  /** Largest request body. Bytes. */
  readonly bodyBytesMax: number;
  /** After this, calls of a request that have no answer yet are answered −32002. Milliseconds. */
  readonly requestTimeoutMs: number;
}

export interface GatewayOptions {
  /** What is offered. Their pools start with the first call to each, and are closed by their owner. */
  readonly chains: readonly GatewayChain[];
  /** Cache, heads and upstreams behind the protocol. */
  readonly answer: AnswerCall;
  readonly database: Database;
  readonly keys: KeyStore;
  readonly gate: RawGate;
  readonly limits: GatewayLimits;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock: Clock;
}

export interface Gateway {
  /** Takes the JSON-RPC requests. For `serveApi`. */
  readonly handler: RawHandler;
  /** What needs no key: which methods and chains there are. For `createApi`. */
  readonly routes: RouteModule;
  /** Writes the usage that is not written yet. */
  close(): Promise<void>;
}

/**
 * The JSON-RPC gateway over the given chains. The way of a request: `serving/gateway-handler.ts` (who may pass),
 * `serving/serve-body.ts` (its calls), `serving/answer-request.ts` (one call), the given `answer` (cache and upstreams).
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { chains, keys, gate, limits, logger, clock, database } = options;
  const usage = createUsageCounter({ database, logger, clock });
  const answerRequest = createAnswerRequest({
    answer: options.answer,
    rateLimits: createRateLimits(limits),
    usage,
    tally: createCallTally(options.metrics),
    clock,
    logger,
  });
  const served = chains.map((chain) => ({ chain, start: createPoolStart(chain, { clock, logger }) }));
  return {
    handler: createGatewayHandler({
      chains: new Map(served.map((chain) => [chain.chain.slug, chain])),
      gate,
      keys,
      serveBody: createServeBody({ answerRequest, timeoutMs: limits.requestTimeoutMs }),
      bodyBytesMax: limits.bodyBytesMax,
      logger,
    }),
    routes: createGatewayRoutes(chains, clock),
    close: () => usage.close(),
  };
}
