import { Counter, type Registry } from '@chainstead/core';

export type WalletHistoryMetrics = Counter<'chain' | 'kind' | 'outcome'>;

export function createWalletHistoryMetrics(registry: Registry): WalletHistoryMetrics {
  return new Counter({
    name: 'chainstead_histories_total',
    help: 'Number of on-demand backfill turns by kind (wallets, contracts, senders, receivers, emitters, traders) and outcome. Outcomes: done, more (yielded to other work), waits (for final blocks or another search), refused (too many node calls, or quarantined), failed',
    labelNames: ['chain', 'kind', 'outcome'],
    registers: [registry],
  });
}
