import { Counter, type Registry } from '@chainstead/core';

export type WalletHistoryMetrics = Counter<'chain' | 'kind' | 'outcome'>;

/** Registers what is counted of wallet history. Once for each registry. */
export function createWalletHistoryMetrics(registry: Registry): WalletHistoryMetrics {
  return new Counter({
    name: 'chainstead_histories_total',
    help: 'Turns of wallet history (of wallets, contracts, senders, receivers and emitters) by outcome: done, more (gave way to others), waits (for blocks to be final), refused (too many node calls, or set aside), failed',
    labelNames: ['chain', 'kind', 'outcome'],
    registers: [registry],
  });
}
