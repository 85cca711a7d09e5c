import type { Clock, Logger, Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { KeyStore, RawGate, RawHandler } from '@chainstead/http';
import { createRateLimits, type RateLimitOptions } from '../access/rate-limits.ts';
import type { AnswerCall, GatewayChain } from '../call.ts';
import { createUsageCounter } from '../usage/usage-counter.ts';
import { createAnswerRequest } from './answer-request.ts';
import { createGatewayHandler } from './gateway-handler.ts';
import { createPoolStart } from './pool-start.ts';
import { createRefusalCount } from './refusals.ts';
import { createServeBody } from './serve-body.ts';

export interface GatewayLimits extends RateLimitOptions {
  /** Largest request body. Bytes. */
  readonly bodyBytesMax: number;
  /** After this, calls of a request that have no answer yet are answered −32002. Milliseconds. */
  readonly requestTimeoutMs: number;
}

export interface GatewayServerOptions {
  readonly chains: readonly GatewayChain[];
  /** Cache, heads and upstreams behind the protocol. */
  readonly answer: AnswerCall;
  /** Where usage is kept. */
  readonly database: Database;
  readonly keys: KeyStore;
  readonly gate: RawGate;
  readonly limits: GatewayLimits;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock: Clock;
}

export interface GatewayServer {
  readonly handler: RawHandler;
  /** Writes the usage that is not written yet. */
  close(): Promise<void>;
}

/**
 * JSON-RPC over HTTP in front of an answer. The way of a request: `gateway-handler.ts` (who may pass), `serve-body.ts` (its
 * calls), `answer-request.ts` (one call), the given `answer`.
 */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { chains, keys, gate, limits, logger, clock, database } = options;
  const usage = createUsageCounter({ database, logger, clock });
  const answerRequest = createAnswerRequest({
    answer: options.answer,
    rateLimits: createRateLimits(limits),
    usage,
    countRefusal: createRefusalCount(options.metrics),
    clock,
    logger,
  });
  const served = chains.map((chain) => ({ chain, start: createPoolStart(chain, { clock, logger }) }));
  return {
    handler: createGatewayHandler({
      chains: new Map(served.map((one) => [one.chain.slug, one])),
      gate,
      keys,
      serveBody: createServeBody({ answerRequest, timeoutMs: limits.requestTimeoutMs }),
      bodyBytesMax: limits.bodyBytesMax,
      logger,
    }),
    close: () => usage.close(),
  };
}
