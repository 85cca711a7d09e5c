import type { MetricFamilies } from '@chainstead/core';
import type { RoleMessage } from './role-messages.ts';

export interface MetricsPeer {
  send(message: RoleMessage): void;
}

export interface MetricsExchange {
  collect(peers: readonly MetricsPeer[]): Promise<MetricFamilies[]>;
  receive(message: Extract<RoleMessage, { type: 'metrics-answer' }>): void;
}

const ANSWER_TIMEOUT_MS = 2_000;

export function createMetricsExchange(timeoutMs = ANSWER_TIMEOUT_MS): MetricsExchange {
  const waiting = new Map<number, (families: MetricFamilies[]) => void>();
  let nextId = 1;

  function ask(peer: MetricsPeer): Promise<MetricFamilies[]> {
    const id = nextId;
    nextId += 1;
    return new Promise((resolve) => {
      const finish = (families: MetricFamilies[]): void => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(families);
      };
      const timer = setTimeout(() => finish([]), timeoutMs);
      waiting.set(id, finish);
      peer.send({ type: 'metrics-request', id });
    });
  }

  return {
    collect: async (peers) => (await Promise.all(peers.map(ask))).flat(),
    receive: (message) => waiting.get(message.id)?.(message.processes),
  };
}
