/** What role processes and their supervisor say to each other over the IPC channel. */
import type { MetricFamilies } from '@chainstead/core';
import type { Urgency } from '@chainstead/rpc';
import { z } from 'zod';
import { ROLE_NAMES } from '../configuration/index.ts';

const metricFamilies = z.custom<MetricFamilies>((value) => Array.isArray(value));

const ready = z.object({ type: z.literal('ready'), role: z.enum(ROLE_NAMES), address: z.string().nullable() });
/** How long connections that clients keep open may get one more request, where another process has taken over. */
const stop = z.object({ type: z.literal('stop'), idleGraceMs: z.number() });
/** From a process of the API: the metrics of all others, please. From the supervisor: yours, please. */
const metricsRequest = z.object({ type: z.literal('metrics-request'), id: z.number().int() });
const metricsAnswer = z.object({
  type: z.literal('metrics-answer'),
  id: z.number().int(),
  processes: z.array(metricFamilies),
});

/** Turns by how urgent they are. Negative numbers take back what was asked. */
const turns = z.number().int();
const asked = z.object({ urgent: turns, normal: turns, ahead: turns } satisfies Record<Urgency, typeof turns>);
/** A limit of an upstream: calls a second, or requests in flight. The upstream is a hash: its URL holds secrets. */
const limited = { kind: z.enum(['rate', 'slots']), upstream: z.string() };
/** To the supervisor: so many turns, please. */
const turnAsk = z.object({ type: z.literal('turn-ask'), ...limited, limit: z.number().positive(), asked });
/** To the supervisor: these turns were granted, and are over or not used. */
const turnReturn = z.object({ type: z.literal('turn-return'), ...limited, turns });
const turnGrant = z.object({ type: z.literal('turn-grant'), ...limited, turns });
/** To the command that is helped: so many logs were read and committed so far. */
const helped = z.object({ type: z.literal('helped'), logs: z.number().int().nonnegative() });

const roleMessage = z.discriminatedUnion('type', [
  ready,
  stop,
  metricsRequest,
  metricsAnswer,
  turnAsk,
  turnReturn,
  turnGrant,
  helped,
]);
export type RoleMessage = z.output<typeof roleMessage>;
/** What a process says of the calls that it makes. */
export type TurnMessage = Extract<RoleMessage, { type: 'turn-ask' | 'turn-return' }>;

/** The message, or null for anything else that came over the channel. */
export function parseRoleMessage(value: unknown): RoleMessage | null {
  const parsed = roleMessage.safeParse(value);
  return parsed.success ? parsed.data : null;
}
