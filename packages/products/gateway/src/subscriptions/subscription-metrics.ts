import { Counter, Gauge, type Registry } from '@chainstead/core';

export type SubscriptionKind = 'newHeads' | 'logs' | 'newPendingTransactions';

export type SubscriptionMetrics = ReturnType<typeof createSubscriptionMetrics>;

export function createSubscriptionMetrics(registry: Registry) {
  const registers = [registry];
  const open = new Gauge({
    name: 'chainstead_gateway_subscriptions',
    help: 'Number of active JSON-RPC subscriptions over WebSocket, by kind',
    labelNames: ['chain', 'kind'],
    registers,
  });
  const sent = new Counter({
    name: 'chainstead_gateway_notifications_total',
    help: 'Number of notifications sent to subscriptions, by kind',
    labelNames: ['chain', 'kind'],
    registers,
  });
  return {
    open: (chain: string, kind: SubscriptionKind, change: 1 | -1): void => open.inc({ chain, kind }, change),
    sent: (chain: string, kind: SubscriptionKind): void => sent.inc({ chain, kind }),
  };
}
