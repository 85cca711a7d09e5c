import type { Clock, Logger, Registry } from '@chainstead/core';
import type { RecoverSigners } from '@chainstead/proof';
import { createLocalUpstreamLimits, type UpstreamLimits } from '@chainstead/rpc/pool';
import { type BlockSource, createHistorySources, type HistorySources } from '@chainstead/sources';
import { openEraSource, openHyperSyncSource, openPortalSource } from '@chainstead/sources/open';
import type { ChainConfiguration } from '../configuration/index.ts';

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
