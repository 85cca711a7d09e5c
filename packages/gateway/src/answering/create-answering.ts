import { type Clock, type Logger, type Registry, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { ForwardingPool } from '@chainstead/rpc';
import { createAnswerCache } from '../cache/answer-cache.ts';
import { createPostgresAnswerStore } from '../cache/postgres-answer-store.ts';
import { createRedisAnswerStore } from '../cache/redis-answer-store.ts';
import { createStoredAnswers } from '../cache/stored-answers.ts';
import type { AnswerCall, GatewayChain } from '../call.ts';
import { openGatewayRedis } from '../heads/gateway-redis.ts';
import { createHeadFloor, type HeadFloor } from '../heads/head-floor.ts';
import { createPostgresHeadStore } from '../heads/postgres-head-store.ts';
import { createRedisHeadStore } from '../heads/redis-head-store.ts';
import { createAnswerCall } from './answer-call.ts';

/** How much is kept. */
export interface AnsweringSettings {
  /** Bytes of answers in memory. @default 64 MiB */
  readonly memoryBytes?: number;
  /** Days that an answer stays in Postgres or Redis. @default 30 */
  readonly storedDays?: number;
  /** Bytes of answers in Postgres or Redis. @default 1 GiB */
  readonly storedBytes?: number;
  /** Milliseconds that Postgres or Redis may take before answers go on without it. @default 1000 for the head, 250 for answers */
  readonly storeTimeoutMs?: number;
}

/** What answering is put together from. */
export interface AnsweringOptions {
  readonly database: Database;
  /** Where it is given, heads and answers are shared there instead of in Postgres. */
  readonly redisUrl?: string | undefined;
  readonly settings?: AnsweringSettings;
  /** For chains with `integrity: 'strict'`. */
  readonly strictForward: (chain: GatewayChain) => ForwardingPool['forward'];
  /** Answer to web3_clientVersion, `name/version`. */
  readonly clientVersion: string;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock?: Clock;
}

export interface Answering {
  readonly answer: AnswerCall;
  /** The head of a chain, one for all who ask. */
  readonly headFloor: (chain: GatewayChain) => HeadFloor;
  /** Ends following the chains and writes what is still to be kept. The database stays open. */
  close(): Promise<void>;
}

const REDIS_PREFIX = 'chainstead:gateway:';

/** Heads, cache and answering together. Nothing is sent before the first call. */
export function createAnswering(options: AnsweringOptions): Answering {
  const { database, redisUrl, settings = {}, logger, clock = systemClock } = options;
  const limits = {
    ...given('days', settings.storedDays),
    ...given('bytes', settings.storedBytes),
  };
  const redis =
    redisUrl === undefined
      ? null
      : openGatewayRedis({ redisUrl, logger, ...given('timeoutMs', settings.storeTimeoutMs) });
  const heads =
    redis === null ? createPostgresHeadStore({ database }) : createRedisHeadStore({ redis, prefix: REDIS_PREFIX });
  const store =
    redis === null
      ? createPostgresAnswerStore({ database, limits })
      : createRedisAnswerStore({ redis, prefix: REDIS_PREFIX, limits, clock });
  const stored = createStoredAnswers({ store, clock, logger, ...given('readTimeoutMs', settings.storeTimeoutMs) });
  const floors = new Map<GatewayChain, HeadFloor>();
  function headFloor(offered: GatewayChain): HeadFloor {
    const known = floors.get(offered);
    if (known !== undefined) return known;
    const { chain, pool, pinsHead } = offered;
    const floor = createHeadFloor({
      chain,
      pool,
      store: pinsHead ? heads : null,
      logger,
      clock,
      ...given('storeTimeoutMs', settings.storeTimeoutMs),
    });
    floors.set(offered, floor);
    return floor;
  }
  const answer = createAnswerCall({
    headFloor,
    cache: createAnswerCache({
      stored,
      clock,
      ...given('bytesMax', settings.memoryBytes),
    }),
    forwardOf: (chain) =>
      chain.integrity === 'strict' ? options.strictForward(chain) : (call, given) => chain.pool.forward(call, given),
    clientVersion: options.clientVersion,
    logger,
    metrics: options.metrics,
  });
  return {
    answer,
    headFloor,
    async close() {
      for (const floor of floors.values()) floor.close();
      await stored.close();
      redis?.disconnect();
    },
  };
}

/** An option only where it is set, so that defaults hold. */
function given<Name extends string>(name: Name, value: number | undefined): Partial<Record<Name, number>> {
  const option: Partial<Record<string, number>> = value === undefined ? {} : { [name]: value };
  return option;
}
