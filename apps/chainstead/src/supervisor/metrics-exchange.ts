import type { MetricFamilies } from '@chainstead/core';
import { z } from 'zod';
import { ROLE_NAMES } from '../configuration/index.ts';

export interface MetricsPeer {
  send(message: RoleMessage): void;
}

interface MetricsExchange {
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

const metricFamilies = z.custom<MetricFamilies>((value) => Array.isArray(value));

const ready = z.object({ type: z.literal('ready'), role: z.enum(ROLE_NAMES), address: z.string().nullable() });
/** For keep-alive connections, if another process has taken over. */
const stop = z.object({ type: z.literal('stop'), idleGraceMs: z.number() });
/** Metrics requested by an API process: of all others; by the supervisor: of this one. */
const metricsRequest = z.object({ type: z.literal('metrics-request'), id: z.number().int() });
const metricsAnswer = z.object({
  type: z.literal('metrics-answer'),
  id: z.number().int(),
  processes: z.array(metricFamilies),
});

/** Calls per second, or requests in flight. */
const units = z.number().int().nonnegative();
/** `upstream`: hash of upstream and limit, as URLs contain secrets. */
const shared = { upstream: z.string(), number: z.number().int() };
const limitReport = z.object({ type: z.literal('limit-report'), ...shared, units, wanted: units, held: units });
const limitShare = z.object({ type: z.literal('limit-share'), ...shared, share: units });
const helped = z.object({ type: z.literal('helped'), logs: z.number().int().nonnegative() });

const roleMessage = z.discriminatedUnion('type', [
  ready,
  stop,
  metricsRequest,
  metricsAnswer,
  limitReport,
  limitShare,
  helped,
]);
export type RoleMessage = z.output<typeof roleMessage>;
export type LimitReport = z.output<typeof limitReport>;
export type LimitShare = z.output<typeof limitShare>;

export function parseRoleMessage(value: unknown): RoleMessage | null {
  const parsed = roleMessage.safeParse(value);
  return parsed.success ? parsed.data : null;
}
