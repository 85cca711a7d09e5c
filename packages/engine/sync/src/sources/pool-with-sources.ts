import { type BlockRange, type Log, rangeSize } from '@chainstead/core';
import {
  type LogsAnswer,
  type LogsOptions,
  type LogsQuery,
  RangeTooLargeError,
  type UpstreamPool,
} from '@chainstead/rpc';
import { type HistorySources, SourceError } from '@chainstead/sources';
import { readSourceLogs } from './read-source-logs.ts';

/** Below it, one call to a node is as fast as a stream. */
const SOURCE_BLOCKS_MIN = 5_000;
const UNIT_WEIGHT = 6_000;
/** Of a log besides its data. */
const LOG_BYTES = 600;

/**
 * A pool that reads the logs of long ranges from a source, in one stream, and the rest from nodes. An estimate counts
 * such a stream as one call.
 */
export function poolWithSources(pool: UpstreamPool, sources: HistorySources | undefined): UpstreamPool {
  if (sources === undefined) return pool;
  const isReached = (range: BlockRange): boolean => {
    const reach = rangeSize(range) < SOURCE_BLOCKS_MIN ? null : sources.reach('logs', range, 'newest-first');
    return reach?.from === range.from && reach.to === range.to;
  };
  return {
    ...pool,
    getLogs: (query, options = {}) =>
      isReached(query.range) ? getSourceLogs(pool, sources, query, options) : pool.getLogs(query, options),
    estimateLogCalls: (query, ranges) =>
      ranges.reduce((sum, range) => sum + (isReached(range) ? 1 : pool.estimateLogCalls(query, [range])), 0),
  };
}

/** @throws SourceError if the source ended early: the next plan counts the calls to nodes. RangeTooLargeError */
async function getSourceLogs(
  pool: UpstreamPool,
  sources: HistorySources,
  query: LogsQuery,
  options: LogsOptions,
): Promise<LogsAnswer> {
  const { range } = query;
  const { signal = new AbortController().signal, bytesMax = Number.POSITIVE_INFINITY } = options;
  const chosen = await sources.choose('logs', range, signal);
  if (chosen === null || chosen.range.to < range.to) return pool.getLogs(query, options);
  const logs: Log[] = [];
  let bytes = 0;
  let next = range.from;
  for await (const part of readSourceLogs({ pool, unitWeight: UNIT_WEIGHT }, chosen, query, signal)) {
    for (const log of part.logs) {
      logs.push(log);
      bytes += LOG_BYTES + log.data.length / 2;
    }
    if (bytes > bytesMax)
      throw new RangeTooLargeError({ chain: `${pool.chainId}`, ...range, bytes_max: bytesMax });
    next = part.range.to + 1;
  }
  const { name } = chosen.source;
  if (next > range.to) return { logs, sources: [{ range, upstream: name }], calls: 1 };
  throw new SourceError({
    source: name,
    fault: 'unavailable',
    what: `its logs ended at block ${next - 1} of ${range.to}`,
  });
}
