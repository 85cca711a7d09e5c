import type { BlockRange } from '@chainstead/core';
import { splitAtBarriers } from './log-range-planner.ts';
import { logsKind } from './logs-kind.ts';
import type { PoolLimits } from './pool-limits.ts';
import type { Upstream } from './upstream.ts';
import type { LogsQuery } from './upstream-pool.ts';

/**
 * About how many calls a query would take on the upstream that needs fewest: it is the one that is chosen first. Upstreams
 * that are out count only where all are.
 */
export function estimateLogCalls(options: {
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
