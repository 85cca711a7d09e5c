import { Counter, Histogram, type Registry, sharedMetric } from '@chainstead/core';
import { countCalls, LATENCY_BOUNDS_MS, type UpstreamCallCounts } from '@chainstead/rpc';

/** What is counted of fullnodes, by all that a process asks them for; documented in docs/metrics.md. */
export interface FullnodeMetrics {
  readonly requests: Counter<'chain' | 'fullnode' | 'outcome'>;
  readonly latency: Histogram<'chain' | 'fullnode'>;
  readonly bytes: Counter<'chain' | 'fullnode'>;
}

export function createFullnodeMetrics(registry: Registry): FullnodeMetrics {
  return {
    requests: sharedMetric(registry, Counter<'chain' | 'fullnode' | 'outcome'>, {
      name: 'chainstead_aptos_requests_total',
      help: 'Calls to Aptos fullnodes by outcome: ok or the kind of fault',
      labelNames: ['chain', 'fullnode', 'outcome'],
      registers: [registry],
    }),
    latency: sharedMetric(registry, Histogram<'chain' | 'fullnode'>, {
      name: 'chainstead_aptos_request_duration_seconds',
      help: 'Time from sending a request to an Aptos fullnode to its read answer',
      labelNames: ['chain', 'fullnode'],
      buckets: LATENCY_BOUNDS_MS.map((ms) => ms / 1_000),
      registers: [registry],
    }),
    bytes: sharedMetric(registry, Counter<'chain' | 'fullnode'>, {
      name: 'chainstead_aptos_bytes_total',
      help: 'Bytes of answers of Aptos fullnodes, decompressed',
      labelNames: ['chain', 'fullnode'],
      registers: [registry],
    }),
  };
}

/** What was asked of each fullnode since the process began: what metrics count anyway. */
export function countFullnodeCalls(registry: Registry): Promise<UpstreamCallCounts[]> {
  const { requests, latency } = createFullnodeMetrics(registry);
  return countCalls({ requests, latency, node: 'fullnode' });
}
