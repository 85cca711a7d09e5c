import { Counter, type Registry } from '@chainstead/core';

/** Why a call was refused without being tried. */
export type Refusal = 'unsupported' | 'rate-limited' | 'invalid-params';

/** Counts refused calls by chain and reason. Other calls are counted when they are handled. */
export type CountRefusal = (chain: string, reason: Refusal) => void;

export function createRefusalCount(registry: Registry): CountRefusal {
  const refusals = new Counter({
    name: 'chainstead_gateway_refusals_total',
    help: 'Number of JSON-RPC calls rejected before execution, by reason: unsupported (method), rate-limited (key), invalid-params',
    labelNames: ['chain', 'reason'],
    registers: [registry],
  });
  return (chain, reason) => refusals.inc({ chain, reason });
}
