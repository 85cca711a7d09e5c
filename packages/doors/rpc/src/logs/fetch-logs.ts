import type { Chain } from '@chainstead/chains';
import { type BlockRange, createAnswerBudget, inParts } from '@chainstead/core';
import PQueue from 'p-queue';
import type { Failover } from '../failover/failover.ts';
import type { PoolLimits } from '../limits/call-limits.ts';
import { splitAtBarriers } from '../limits/log-range-planner.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { LogsAnswer, LogsQuery, UpstreamPool } from '../upstream-pool.ts';
import { compareLogs, createLogTrust } from './check-logs.ts';
import { logsKind } from './logs-kind.ts';
import { type FetchedLogs, fetchLogs } from './logs-task.ts';

const ADDRESSES_MAX = 1_000;

export function createLogFetcher(options: {
  readonly failover: Failover;
  readonly chain: Pick<Chain, 'key' | 'rangeBarriers' | 'receiptsRoot'>;
  readonly limits: PoolLimits;
  readonly upstreams: readonly Upstream[];
}): Pick<UpstreamPool, 'getLogs' | 'estimateLogCalls'> {
  const { failover, chain, limits } = options;
  const budget = createAnswerBudget({ bytesMax: limits.logsBytesInFlight });
  const turns = new PQueue({ concurrency: 1 });
  const tools = { failover, chain, limits, trust: createLogTrust(), budget, turns };
  return {
    async getLogs(query, given = {}) {
      if (query.range.from > query.range.to) return { logs: [], sources: [], calls: 0 };
      const addresses = query.addresses ?? [];
      const chunks = addresses.length <= ADDRESSES_MAX ? [addresses] : inParts(addresses, ADDRESSES_MAX);
      const answers = await Promise.all(
        chunks.map(async (chunk) => join(await fetchLogs(tools, { ...query, addresses: chunk }, given))),
      );
      const [only] = answers;
      if (only !== undefined && answers.length === 1) return only;
      return {
        logs: answers.flatMap((answer) => answer.logs).sort(compareLogs),
        sources: answers.flatMap((answer) => answer.sources),
        calls: answers.reduce((sum, answer) => sum + answer.calls, 0),
      };
    },
    estimateLogCalls: (query, ranges) => estimateLogCalls({ ...options, query, ranges }),
  };
}

function join({ parts, calls }: FetchedLogs): LogsAnswer {
  const [first, second] = parts;
  const logs = first !== undefined && second === undefined ? first.logs : parts.flatMap((part) => part.logs);
  const sources: { range: BlockRange; upstream: string }[] = [];
  for (const { range, upstream } of parts) {
    const last = sources.at(-1);
    if (last?.upstream === upstream) last.range = { from: last.range.from, to: range.to };
    else sources.push({ range, upstream });
  }
  return { logs, sources, calls };
}

/** By the upstream that needs fewest. Unavailable ones count only if all are. */
function estimateLogCalls(options: {
  readonly query: Omit<LogsQuery, 'range'>;
  readonly ranges: readonly BlockRange[];
  readonly upstreams: readonly Pick<Upstream, 'logRanges' | 'state'>[];
  readonly chain: { readonly rangeBarriers: readonly number[] };
  readonly limits: PoolLimits;
}): number {
  const { ranges, upstreams, chain, limits } = options;
  const kind = logsKind(options.query, limits);
  const pieces = ranges.flatMap((range) => splitAtBarriers(range, chain.rangeBarriers));
  const inUse = upstreams.filter(({ state }) => state.disabledReason === null);
  const estimates = (inUse.length > 0 ? inUse : upstreams).map(({ logRanges }) =>
    pieces.reduce((sum, piece) => sum + Math.ceil(logRanges.calls(piece, kind)), 0),
  );
  return estimates.length === 0 ? 0 : Math.min(...estimates);
}
