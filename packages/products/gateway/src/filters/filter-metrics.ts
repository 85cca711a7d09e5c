import { Counter, type Registry } from '@chainstead/core';
import type { FilterKind } from './filter-store.ts';

export function createFilterMetrics(registry: Registry) {
  const made = new Counter({
    name: 'chainstead_gateway_filters_total',
    help: 'Number of filters created by JSON-RPC clients, by kind: logs, blocks, pending (transactions)',
    labelNames: ['chain', 'kind'],
    registers: [registry],
  });
  return { made: (chain: string, kind: FilterKind): void => made.inc({ chain, kind }) };
}
