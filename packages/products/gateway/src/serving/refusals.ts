import { Counter, type Registry } from '@chainstead/core';

/** Calls refused without being tried; others are counted when handled. */
export type CountRefusal = (chain: string, reason: 'unsupported' | 'rate-limited' | 'invalid-params') => void;

export function createRefusalCount(registry: Registry): CountRefusal {
  const refusals = new Counter({
    name: 'chainstead_gateway_refusals_total',
    help: 'Number of JSON-RPC calls rejected before execution, by reason: unsupported (method), rate-limited (key), invalid-params',
    labelNames: ['chain', 'reason'],
    registers: [registry],
  });
  return (chain, reason) => refusals.inc({ chain, reason });
}
