import { Counter, Gauge, type Registry } from '@chainstead/core';

/** Kinds of subscriptions. */
export type SubscriptionKind = 'newHeads' | 'logs' | 'newPendingTransactions';

export interface SubscriptionMetrics {
  /** A subscription began (1) or ended (−1). */
  open(chain: string, kind: SubscriptionKind, change: 1 | -1): void;
  /** A notification was sent. */
  sent(chain: string, kind: SubscriptionKind): void;
}

export function createSubscriptionMetrics(registry: Registry): SubscriptionMetrics {
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
    open: (chain, kind, change) => open.inc({ chain, kind }, change),
    sent: (chain, kind) => sent.inc({ chain, kind }),
  };
}
