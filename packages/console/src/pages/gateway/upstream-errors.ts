import { latencyPercentile } from '@chainstead/core';
import { LATENCY_BOUNDS_MS } from '@chainstead/rpc';
import type { RecentCalls } from '@chainstead/sync';
import { faultsOf, sumOfTimes } from '../../layout/upstream-sums.ts';
import type { NodeAddress } from '../upstreams/node-address.ts';

/** The gateway's calls to one node, and its failures. */
export interface UpstreamErrors {
  readonly chain: string;
  /** As shown on pages. */
  readonly address: string;
  readonly calls: number;
  /** By kind, the most frequent first. */
  readonly faults: ReadonlyMap<string, number>;
  readonly errorShare: number;
  /** Milliseconds; null without responses. */
  readonly half: number | null;
  readonly most: number | null;
}

/** Returns errors by node, the worst first. */
export function upstreamErrors(requested: readonly RecentCalls[], addressOf: NodeAddress): UpstreamErrors[] {
  const nodes = Map.groupBy(requested, ({ chain, upstream }) => JSON.stringify([chain, upstream]));
  return [...nodes.values()]
    .flatMap((rows) => {
      const [first] = rows;
      if (first === undefined) return [];
      const calls = rows.reduce((sum, row) => sum + row.calls, 0);
      const faults = faultsOf(rows);
      const failed = [...faults.values()].reduce((sum, times) => sum + times, 0);
      const latency = sumOfTimes(rows);
      return [
        {
          chain: first.chain,
          address: addressOf(first),
          calls,
          faults,
          errorShare: calls === 0 ? 0 : failed / calls,
          half: latencyPercentile(LATENCY_BOUNDS_MS, latency, 0.5),
          most: latencyPercentile(LATENCY_BOUNDS_MS, latency, 0.95),
        },
      ];
    })
    .toSorted((one, other) => other.errorShare - one.errorShare || other.calls - one.calls);
}
