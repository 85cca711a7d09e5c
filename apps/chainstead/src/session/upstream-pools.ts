import type { Chain } from '@chainstead/chains';
import {
  type Clock,
  errorText,
  type Logger,
  orAborted,
  type Registry,
  sleepUnlessAborted,
} from '@chainstead/core';
import type { RecoverSigners } from '@chainstead/proof';
import type { ForwardingPool, OnWrongAnswer, UpstreamPool } from '@chainstead/rpc';
import { createLocalUpstreamLimits, createUpstreamPool, type UpstreamLimits } from '@chainstead/rpc/pool';
import { type BlockSource, createHistorySources, type HistorySources } from '@chainstead/sources';
import { createEraPool, openEraSource, openHyperSyncSource, openPortalSource } from '@chainstead/sources/open';
import type { ChainConfiguration } from '../configuration/index.ts';

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

interface StartPoolOptions {
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

interface HistoryOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly callLimits?: UpstreamLimits | undefined;
  readonly recoverSigners?: RecoverSigners | undefined;
}

type HistoryChain = Pick<ChainConfiguration, 'chain' | 'history'> &
  Partial<Pick<ChainConfiguration, 'hasNoNodes'>>;

/** What public services allow per address. Processes share it; other hosts have no limit. */
const PUBLIC_RATES: readonly (readonly [host: RegExp, requestsPerSecond: number])[] = [
  [/(^|\.)sqd\.dev$/, 2],
  [/(^|\.)hypersync\.xyz$/, 1.5],
];

/** The sources in `HISTORY_<CHAIN>`; undefined: none is configured. */
export function openHistory(configured: HistoryChain, options: HistoryOptions): HistorySources | undefined {
  const { chain, history } = configured;
  if (history.length === 0) return undefined;
  return createHistorySources({ ...options, chain, sources: withOwnNames(openSources(configured, options)) });
}

/** Two folders or datasets may have equal names, but rows, metrics and pauses belong to one of them. */
function withOwnNames(sources: readonly BlockSource[]): BlockSource[] {
  return sources.map((source, index) => {
    const same = sources.slice(0, index).filter(({ name }) => name === source.name).length;
    return same === 0 ? source : { ...source, name: `${source.name} (${same + 1})` };
  });
}

export function openSources(
  { chain, history, hasNoNodes }: HistoryChain,
  { logger, clock, callLimits, recoverSigners }: Omit<HistoryOptions, 'metrics'>,
): BlockSource[] {
  return history.map(({ kind, key, place: url }) => {
    if (kind === 'era') {
      const onRefusal = (reason: string): void =>
        logger.warn(
          { chain: chain.key, folder: url, reason },
          'An era file does not hold: its blocks are read elsewhere',
        );
      return openEraSource({ folder: url, chain, recoverSigners, onRefusal, isAlone: hasNoNodes });
    }
    const [, requestsPerSecond] = PUBLIC_RATES.find(([host]) => host.test(new URL(url).hostname)) ?? [];
    const limits = requestsPerSecond === undefined ? null : (callLimits ?? createLocalUpstreamLimits(clock));
    const limiter = limits?.rateLimiterOf({ url, ...(requestsPerSecond && { requestsPerSecond }) }) ?? undefined;
    if (kind === 'hypersync') return openHyperSyncSource({ url, chain, clock, limiter, token: key ?? undefined });
    const headers = key === null ? {} : { 'x-api-key': key };
    return openPortalSource({ url, chain, clock, limiter, headers });
  });
}
