import { Counter, type Registry } from '@chainstead/core';

/** What is counted of fullnodes; documented in docs/metrics.md. */
export interface FullnodeMetrics {
  readonly requests: Counter<'chain' | 'fullnode' | 'outcome'>;
  readonly bytes: Counter<'chain' | 'fullnode'>;
}

export function createFullnodeMetrics(registry: Registry): FullnodeMetrics {
  return {
    requests: new Counter({
      name: 'chainstead_aptos_requests_total',
      help: 'Calls to Aptos fullnodes by outcome: ok or the kind of fault',
      labelNames: ['chain', 'fullnode', 'outcome'],
      registers: [registry],
    }),
    bytes: new Counter({
      name: 'chainstead_aptos_bytes_total',
      help: 'Bytes of answers of Aptos fullnodes, decompressed',
      labelNames: ['chain', 'fullnode'],
      registers: [registry],
    }),
  };
}
