import { Counter, type Registry } from '@chainstead/core';

/** How a call ended: answered from memory, by an upstream, with an error, or refused for its key's rate. */
export type CallEnd = 'cached' | 'upstream' | 'error' | 'rate-limited' | 'unsupported';

/** Counts calls for Prometheus: in plain numbers, which become metrics when somebody asks for them. */
export interface CallTally {
  /** @param method one of the gateway's methods, or `other`: names that clients make up would never end */
  count(chain: string, method: string, end: CallEnd): void;
}

export const OTHER_METHOD = 'other';

export function createCallTally(registry: Registry): CallTally {
  const pending = new Map<string, Map<string, Partial<Record<CallEnd, number>>>>();
  new Counter({
    name: 'chainstead_gateway_calls_total',
    help: 'JSON-RPC calls to the gateway by outcome: cached (no upstream was asked), upstream, error, rate-limited, unsupported',
    labelNames: ['chain', 'method', 'outcome'],
    registers: [registry],
    collect() {
      for (const [chain, methods] of pending)
        for (const [method, ends] of methods)
          for (const [outcome, calls] of Object.entries(ends)) this.inc({ chain, method, outcome }, calls);
      pending.clear();
    },
  });
  return {
    count(chain, method, end) {
      let methods = pending.get(chain);
      if (methods === undefined) {
        methods = new Map();
        pending.set(chain, methods);
      }
      let ends = methods.get(method);
      if (ends === undefined) {
        ends = {};
        methods.set(method, ends);
      }
      ends[end] = (ends[end] ?? 0) + 1;
    },
  };
}
