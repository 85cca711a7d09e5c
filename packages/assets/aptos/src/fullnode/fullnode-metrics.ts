import { Counter, Histogram, type Registry, sharedMetric } from '@chainstead/core';
import { countCalls, LATENCY_BOUNDS_MS, type UpstreamCallCounts } from '@chainstead/rpc';

export interface FullnodeMetrics {
  readonly requests: Counter<'chain' | 'fullnode' | 'outcome'>;
  readonly latency: Histogram<'chain' | 'fullnode'>;
  readonly bytes: Counter<'chain' | 'fullnode'>;
}

export function createFullnodeMetrics(registry: Registry): FullnodeMetrics {
  return {
    requests: sharedMetric(registry, Counter<'chain' | 'fullnode' | 'outcome'>, {
      name: 'chainstead_aptos_requests_total',
      help: 'Number of calls to Aptos fullnodes, by outcome: ok or the fault kind',
      labelNames: ['chain', 'fullnode', 'outcome'],
      registers: [registry],
    }),
    latency: sharedMetric(registry, Histogram<'chain' | 'fullnode'>, {
      name: 'chainstead_aptos_request_duration_seconds',
      help: 'Time from sending a request to an Aptos fullnode to reading the whole response',
      labelNames: ['chain', 'fullnode'],
      buckets: LATENCY_BOUNDS_MS.map((ms) => ms / 1_000),
      registers: [registry],
    }),
    bytes: sharedMetric(registry, Counter<'chain' | 'fullnode'>, {
      name: 'chainstead_aptos_bytes_total',
      help: 'Number of response bytes received from Aptos fullnodes, after decompression',
      labelNames: ['chain', 'fullnode'],
      registers: [registry],
    }),
  };
}

export function countFullnodeCalls(registry: Registry): Promise<UpstreamCallCounts[]> {
  const { requests, latency } = createFullnodeMetrics(registry);
  return countCalls({ requests, latency, node: 'fullnode' });
}
