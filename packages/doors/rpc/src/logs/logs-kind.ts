import type { PoolLimits } from '../limits/call-limits.ts';
import type { LogsKind } from '../limits/log-range-planner.ts';
import type { LogsQuery } from '../upstream-pool.ts';

const KEY_ADDRESSES_MAX = 20;

/** Queries of one kind have about the same density. Most argument values are rare. */
export function logsKind(
  query: Omit<LogsQuery, 'range'>,
  limits: Pick<PoolLimits, 'logRangeStart' | 'logRangeStartNarrow'>,
): LogsKind {
  const { topics, addresses = [], indexed = [] } = query;
  const named = addresses.length > KEY_ADDRESSES_MAX ? `${addresses.length} addresses` : addresses.join();
  const positions = indexed.map((wanted) => (wanted === null ? '-' : 'x')).join('');
  return {
    key: `${topics.join()}|${named}|${positions}`,
    start: positions.includes('x') ? limits.logRangeStartNarrow : limits.logRangeStart,
  };
}
