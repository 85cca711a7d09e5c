import { Counter, type Registry, sharedMetric } from '@chainstead/core';

/** What is counted of fullnodes, by all that a process asks them for; documented in docs/metrics.md. */
export interface FullnodeMetrics {
  readonly requests: Counter<'chain' | 'fullnode' | 'outcome'>;
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
    bytes: sharedMetric(registry, Counter<'chain' | 'fullnode'>, {
      name: 'chainstead_aptos_bytes_total',
      help: 'Bytes of answers of Aptos fullnodes, decompressed',
      labelNames: ['chain', 'fullnode'],
      registers: [registry],
    }),
  };
}
