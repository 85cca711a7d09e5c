import type { Chain } from '@chainstead/chains';
import {
  type Clock,
  errorText,
  type Logger,
  orAborted,
  type Registry,
  sleepUnlessAborted,
} from '@chainstead/core';
import type { ForwardingPool, OnWrongAnswer, UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool, type UpstreamLimits } from '@chainstead/rpc/pool';
import { createEraPool } from '@chainstead/sources/open';
import type { ChainConfiguration } from '../configuration/index.ts';
import { openSources } from './open-history.ts';

const RETRY_MS = 15_000;

interface PoolOptions {
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly callLimits?: UpstreamLimits | undefined;
  readonly onWrongAnswer?: OnWrongAnswer | undefined;
}

type Pooled = Pick<ChainConfiguration, 'chain' | 'upstreams'> & Partial<Pick<ChainConfiguration, 'history'>>;

/** A chain without nodes is read from its era files. */
export function openPool(configured: Pooled, options: PoolOptions): ForwardingPool {
  const { chain, upstreams, history = [] } = configured;
  const { logger, metrics, clock, callLimits, onWrongAnswer } = options;
  const pool = createUpstreamPool({ chain, upstreams, logger, metrics, clock, callLimits, onWrongAnswer });
  if (upstreams.length > 0 || history.length === 0) return pool;
  const sources = openSources({ chain, history, hasNoNodes: true }, options);
  return createEraPool({ chain, clock, sources, nodeless: pool });
}

export interface StartPoolOptions {
  readonly chain: Chain;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  onFailure?(reason: string): Promise<void>;
}

/** Retries until an upstream works. @returns false if the signal aborted before */
export async function startPool(pool: UpstreamPool, options: StartPoolOptions): Promise<boolean> {
  const { chain, clock, logger, signal, onFailure } = options;
  while (!signal.aborted) {
    try {
      // A silent upstream must not hold up a stop.
      await orAborted(pool.start(), signal);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      const reason = errorText(error);
      logger.error({ chain: chain.key, reason, retry_ms: RETRY_MS }, 'No usable upstream for the chain');
      await onFailure?.(reason);
    }
    await sleepUnlessAborted(clock, RETRY_MS, signal);
  }
  return false;
}
