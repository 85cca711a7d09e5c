import type { LogsKind } from './log-range-planner.ts';
import type { PoolLimits } from './pool-limits.ts';
import type { LogsQuery } from './upstream-pool.ts';

/** Addresses up to which a query's density is remembered. */
const KEY_ADDRESSES_MAX = 20;

/**
 * Queries of one kind have about the same density. Queries for an argument (a wallet's transfers) are of one kind whatever
 * its value: most values are rare, so what one has taught serves the next, and they begin wide.
 */
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
