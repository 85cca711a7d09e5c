import { type BlockRange, type Log, rangeSize, subtractRanges } from '@chainstead/core';
import {
  type LogsAnswer,
  type LogsOptions,
  type LogsQuery,
  RangeTooLargeError,
  type UpstreamPool,
} from '@chainstead/rpc';
import { type HistorySources, SourceError } from '@chainstead/sources';
import { readSourceLogs } from '../read/read-source-logs.ts';

/** Below it, one call to a node is as fast as a stream. */
const SOURCE_BLOCKS_MIN = 5_000;
const UNIT_WEIGHT = 6_000;
/** A log without its data. */
const LOG_BYTES = 600;

/**
 * A pool that reads the logs of long ranges from a source, in one stream, and the rest from nodes. An estimate counts
 * such a stream as one call.
 */
export function poolWithSources(pool: UpstreamPool, sources: HistorySources | undefined): UpstreamPool {
  if (sources === undefined) return pool;
  const reachOf = (range: BlockRange): BlockRange | null => {
    const reach = sources.reach('logs', range, 'oldest-first');
    return reach?.from === range.from && rangeSize(reach) >= SOURCE_BLOCKS_MIN ? reach : null;
  };
  return {
    ...pool,
    async getLogs(query, options = {}) {
      const { range } = query;
      if (reachOf(range) === null) return pool.getLogs(query, options);
      const old = await getSourceLogs(pool, sources, query, options);
      const read = old.sources[0]?.range.to ?? range.from - 1;
      if (read >= range.to) return old;
      const newest = await pool.getLogs({ ...query, range: { from: read + 1, to: range.to } }, options);
      return {
        logs: [...old.logs, ...newest.logs],
        sources: [...old.sources, ...newest.sources],
        calls: old.calls + newest.calls,
      };
    },
    estimateLogCalls: (query, ranges) =>
      ranges.reduce((sum, range) => {
        const reach = reachOf(range);
        const left = reach === null ? [range] : subtractRanges([range], [reach]);
        return sum + (reach === null ? 0 : 1) + (left.length === 0 ? 0 : pool.estimateLogCalls(query, left));
      }, 0),
  };
}

/** Blocks that the source has, from the first one. @throws SourceError if it ended early: the next plan counts the calls to nodes. RangeTooLargeError */
async function getSourceLogs(
  pool: UpstreamPool,
  sources: HistorySources,
  query: LogsQuery,
  options: LogsOptions,
): Promise<LogsAnswer> {
  const { signal = new AbortController().signal, bytesMax = Number.POSITIVE_INFINITY } = options;
  const chosen = await sources.choose('logs', query.range, signal);
  if (chosen === null) {
    const names = sources.statuses().map(({ name }) => name);
    const what = 'it has none of these blocks now';
    throw new SourceError({ source: names.join(', '), fault: 'unavailable', what });
  }
  const { range, source } = chosen;
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
  if (next > range.to) return { logs, sources: [{ range, upstream: source.name }], calls: 1 };
  const what = `its logs ended at block ${next - 1} of ${range.to}`;
  throw new SourceError({ source: source.name, fault: 'unavailable', what });
}
