import { Counter, type Registry } from '@chainstead/core';

export type HistoryMetrics = Counter<'chain' | 'kind' | 'outcome'>;

/** Registers what is counted of histories. Once for each registry. */
export function createHistoryMetrics(registry: Registry): HistoryMetrics {
  return new Counter({
    name: 'chainstead_histories_total',
    help: 'Turns of histories of wallets and contracts by outcome: done, more (gave way to others), waits (for blocks to be final), refused (too many node calls, or set aside), failed',
    labelNames: ['chain', 'kind', 'outcome'],
    registers: [registry],
  });
}
