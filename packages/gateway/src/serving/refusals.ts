import { Counter, type Registry } from '@chainstead/core';

/** Why a call was not even tried. */
export type Refusal = 'unsupported' | 'rate-limited' | 'invalid-params';

/** Counts refused calls by chain and reason; the others are counted where they are answered. */
export type CountRefusal = (chain: string, reason: Refusal) => void;

export function createRefusalCount(registry: Registry): CountRefusal {
  const refusals = new Counter({
    name: 'chainstead_gateway_refusals_total',
    help: 'JSON-RPC calls that were refused before they were tried: unsupported (method), rate-limited (key), invalid-params',
    labelNames: ['chain', 'reason'],
    registers: [registry],
  });
  return (chain, reason) => refusals.inc({ chain, reason });
}
